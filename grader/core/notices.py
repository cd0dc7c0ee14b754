"""What a command has to say besides its result: sentences for standard error, once its page is complete."""

_told: dict[str, None] = {}


def tell(sentence: str) -> None:
    """Have a sentence printed at the end of the command, once however often it is told."""
    _told[sentence] = None


def take() -> list[str]:
    """The sentences that were told, oldest first; they are then forgotten."""
    sentences = list(_told)
    _told.clear()
    return sentences
