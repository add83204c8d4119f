"""Items of arrays: views, masks, integers, and stores through them."""
