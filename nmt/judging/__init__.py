"""How good a model is: loss and BLEU on a dev or test set, and which model was best."""
