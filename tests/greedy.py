"""Greedy translation written plainly: what a beam of one is compared with."""

import tensorflow as tf

from input_pipeline.vocabulary import BOS, EOS
from nmt.search.decoding import make_decoder, rows_of


def greedy(model, flat, batch, max_length):
    """`[batch, time]` ids, </s> from each sentence's end on."""
    decoder = make_decoder(model, flat)
    states, memory = decoder.start(batch)
    words = tf.fill([len(batch.source)], BOS)
    rows = rows_of(tf.ones([len(words), 1], tf.bool))
    output = []
    while len(output) < max_length and tf.reduce_any(words != EOS):
        scores, states, _ = decoder.predict(words[:, tf.newaxis], rows, states, memory)
        best = tf.argmax(scores, axis=1, output_type=tf.int32)
        words = tf.where(words == EOS, EOS, best)
        output.append(words)
    return tf.stack(output, axis=1)
