"""Text or synthetic ids in, padded batches on the device out."""
