"""A small English-German corpus made from a grammar, so that training needs no download."""
