"""`make watch`: judges a chapter as soon as its kernel.cu is saved.

command.py starts it, guard.py runs the screen in a process and restores the terminal, files.py reports what
was saved, jobs.py does one piece of work at a time beside the screen, work.py defines the pieces, pages.py
formats their results for a width, and screen.py shows them and handles keys.
"""
