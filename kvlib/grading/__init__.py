"""Labs: from the text that an author writes to notebooks, and the checks of what a learner writes into them."""
