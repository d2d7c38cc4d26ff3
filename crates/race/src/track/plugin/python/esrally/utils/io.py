"""Files of lines, their offset tables, and archives."""

import bz2
import gzip
import mmap
import os
import shutil
import subprocess
import zipfile

# Lines between two entries of an offset table, as Rally writes them.
OFFSET_LINES = 50000


class FileSource:
    """A file read line by line."""

    def __init__(self, file_name, mode, encoding="utf-8"):
        self.file_name = file_name
        self.mode = mode
        self.encoding = encoding
        self.f = None

    def open(self):
        self.f = open(self.file_name, self.mode, encoding=None if "b" in self.mode else self.encoding)
        return self

    def seek(self, offset):
        self.f.seek(offset)

    def read(self):
        return self.f.read()

    def readline(self):
        return self.f.readline()

    def readlines(self, num_lines):
        lines = []
        for _ in range(num_lines):
            line = self.f.readline()
            if not line:
                break
            lines.append(line)
        return lines

    def close(self):
        self.f.close()
        self.f = None

    def __enter__(self):
        return self.open()

    def __exit__(self, *_):
        self.close()
        return False


class MmapSource(FileSource):
    """The same over the mapped file, as bytes."""

    def open(self):
        self._file = open(self.file_name, "rb")
        self.f = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return self

    def close(self):
        super().close()
        self._file.close()


def ensure_dir(directory, mode=0o777):
    if directory:
        os.makedirs(directory, mode, exist_ok=True)


def dirname(path):
    return os.path.dirname(path)


def basename(path):
    return os.path.basename(path)


def exists(path):
    return os.path.exists(path)


def normalize_path(path, cwd="."):
    return os.path.normpath(os.path.join(os.path.abspath(cwd), os.path.expanduser(path)))


def splitext(file_name):
    if file_name.endswith((".tar.gz", ".tar.bz2")):
        name, last = os.path.splitext(file_name)
        name, first = os.path.splitext(name)
        return name, first + last
    return os.path.splitext(file_name)


def has_extension(file_name, extension):
    return splitext(file_name)[1] == extension


def prepare_file_offset_table(data_file_path):
    """Writes `<file>.offset`: after every 50,000 lines their number and the byte they end at. Gives the number of lines."""
    table = f"{data_file_path}.offset"
    if os.path.exists(table) and os.path.getmtime(table) >= os.path.getmtime(data_file_path):
        return None
    count = 0
    part = table + ".part"
    with open(data_file_path, "rb") as data, open(part, "w", encoding="utf-8") as offsets:
        position = 0
        for line in data:
            count += 1
            position += len(line)
            if count % OFFSET_LINES == 0:
                offsets.write(f"{count};{position}\n")
    os.replace(part, table)
    return count


def remove_file_offset_table(data_file_path):
    try:
        os.remove(f"{data_file_path}.offset")
    except FileNotFoundError:
        pass


def skip_lines(data_file_path, data_file, number_of_lines_to_skip):
    """Moves an open file forward, with the help of its offset table."""
    if number_of_lines_to_skip == 0:
        return
    start, left = 0, number_of_lines_to_skip
    table = f"{data_file_path}.offset"
    if os.path.exists(table):
        with open(table, encoding="utf-8") as offsets:
            for entry in offsets:
                line, position = map(int, entry.strip().split(";"))
                if line > number_of_lines_to_skip:
                    break
                start, left = position, number_of_lines_to_skip - line
    data_file.seek(start)
    for _ in range(left):
        data_file.readline()


def decompress(archive, target_directory):
    """Unpacks an archive of one file (bz2, gz, zst) or of many (zip) into a folder."""
    ensure_dir(target_directory)
    name, extension = os.path.splitext(archive)
    target = os.path.join(target_directory, os.path.basename(name))
    if extension == ".zip":
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(target_directory)
    elif extension in (".bz2", ".gz"):
        with (bz2.open if extension == ".bz2" else gzip.open)(archive, "rb") as packed, open(target, "wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
    elif extension == ".zst":
        subprocess.run(["zstd", "-q", "-d", "-f", archive, "-o", target], check=True)
    else:
        raise RuntimeError(f"Unsupported file extension [{extension}]. Cannot decompress [{archive}].")
