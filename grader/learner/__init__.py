"""The learner's commands: verdicts, hints, the watch screen, the ladder, the report, an archive to hand in."""
