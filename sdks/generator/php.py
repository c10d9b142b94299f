FOLDERS: list[str] = []


def files(api):
    return {}
