"""`make watch`: judges a chapter as soon as its kernel.cu is saved.

command.py begins it, guard.py has the process around the screen that leaves the terminal as it found it, files.py tells
what was saved, jobs.py does one piece of work at a time beside the screen, work.py says what they are, pages.py makes
text of a width out of what came of them, and screen.py shows it and listens to the keys.
"""
