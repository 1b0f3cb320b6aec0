"""Which zip archive a file is, also where its directory at the end is cut off: by the name of its first member."""


def first_member(path):
    """The name of the first member of a zip archive, "" where the file is none."""
    try:
        with open(str(path), "rb") as file:
            head = file.read(30)
            if len(head) < 30 or head[:4] != b"PK\x03\x04":
                return ""
            return file.read(int.from_bytes(head[26:28], "little")).decode("utf-8", "replace")
    except OSError:
        return ""
