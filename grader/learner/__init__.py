"""What a learner asks for: verdicts, hints, the watch screen, the ladder, the report, an archive to hand in."""
