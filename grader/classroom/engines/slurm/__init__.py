"""Grading through a Slurm cluster: batches of kernels as jobs, their judgements through the journal.

Plain sbatch, squeue and scancel, and no library between: what a job runs is the same
`python -m grader.classroom.judge.worker FILE` for any engine and its result is a file of the journal, so that no Python
object has to reach the node or come back, and a job is over when its journal entries stand. Accounting, which many
small clusters lack and the libraries ask for a job's end, is not needed.
"""
