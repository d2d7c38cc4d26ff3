"""Base classes of track processors."""


class TrackProcessor:
    def on_after_load_track(self, track):
        """Changes the track in place."""

    def on_prepare_track(self, track, data_root_dir):
        """Gives (function, keyword arguments) of what is to be done before the race."""
        return []


class DefaultTrackPreparator(TrackProcessor):
    """Unpacking and checking of corpora, which Limber does by itself."""


class DocumentSetPreparator:
    """Brings one document file for a processor that works on it: the file beside the track's data, or its archive unpacked."""

    def __init__(self, track_name, downloader=None, decompressor=None):
        self.track_name = track_name

    def prepare_document_set(self, document_set, data_root):
        import os

        from esrally.utils import io, net

        path = os.path.join(data_root, document_set.document_file)
        if not os.path.exists(path):
            archive = document_set.document_archive
            packed = os.path.join(data_root, archive) if archive else None
            if packed is None or not os.path.exists(packed):
                name = archive or document_set.document_file
                packed = os.path.join(data_root, name)
                net.download(f"{document_set.base_url}/{name}", packed)
            if archive:
                io.decompress(packed, os.path.dirname(path))
        document_set.document_file = path
        io.prepare_file_offset_table(path)
