"""Grading through a Slurm cluster: batches of kernels as jobs, their judgements through the journal.

It uses sbatch, squeue and scancel directly, without a library: a job runs the same `python -m
grader.classroom.judge.worker FILE` for any engine and its result is a file of the journal, so no Python
object has to reach the node or come back, and a job is over when its journal entries exist. Accounting, which
many small clusters lack and libraries need to detect a job's end, is not needed.
"""
