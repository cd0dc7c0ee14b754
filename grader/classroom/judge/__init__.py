"""The judge of one kernel of a class: the programs that touch it, and what of their output is believed."""
