"""The emitters: each turns the model into the text of one or two committed files."""
