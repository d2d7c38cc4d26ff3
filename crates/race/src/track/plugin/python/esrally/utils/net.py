"""Downloads, for plugins that fetch files of their own."""

import os
import urllib.request


def download(url, local_path, expected_size_in_bytes=None, progress_indicator=None):
    """Fetches a file; it appears under its name when it is whole."""
    os.makedirs(os.path.dirname(local_path) or ".", exist_ok=True)
    part = local_path + ".part"
    with urllib.request.urlopen(url) as response, open(part, "wb") as file:
        while piece := response.read(1 << 20):
            file.write(piece)
    size = os.path.getsize(part)
    if expected_size_in_bytes is not None and size != expected_size_in_bytes:
        os.remove(part)
        raise OSError(f"[{url}] has {size} bytes, not {expected_size_in_bytes}")
    os.replace(part, local_path)
    return expected_size_in_bytes


def download_http(url, local_path, expected_size_in_bytes=None, progress_indicator=None):
    return download(url, local_path, expected_size_in_bytes, progress_indicator)
