"""Bytes on sockets: framing that two readers could understand differently, bodies that unpack to much, clients that read and write slowly."""

import gzip
import socket
import time
import zlib

from case import OK, REFUSED, Case, acts

# The connection was closed without an answer, which is right where no request could be read.
CLOSED = 0
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
# What a refused request may be answered with; `GET /hidden` must not be answered after it.
ONE_REFUSAL = (CLOSED, 400, 408, 413, 414, 415, 417, 431, 501, 505)


def connect(server, timeout=20):
    return socket.create_connection(("127.0.0.1", server.port), timeout=timeout)


def statuses(text):
    return [int(part[:3]) for part in text.split(b"HTTP/1.1 ")[1:] if part[:3].isdigit()] or [CLOSED]


def exchange(server, data, half_close=False, timeout=8):
    """Sends bytes and reads until the server closes or is silent."""
    with connect(server, timeout) as stream:
        try:
            stream.sendall(data)
            if half_close:
                stream.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        answer = b""
        try:
            while part := stream.recv(1 << 16):
                answer += part
        except OSError:
            pass
        return statuses(answer)


def sent(name, data, expect=ONE_REFUSAL, **more):
    """Bytes, and the only statuses that may come back."""
    return acts(name, lambda server: exchange(server, data() if callable(data) else data, **more), expect)


def smuggled(name, head, body=b"{}"):
    """A request that is framed doubtfully, with another one hidden after it: exactly one answer, a refusal, and the end of the connection."""

    def act(server):
        request = b"POST /_search HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n\r\n" + body + HIDDEN
        found = exchange(server, request)
        # Two answers mean that the hidden request was understood.
        return found if len(found) == 1 else [599]

    return acts(name, act, ONE_REFUSAL)


def chunked(name, body, expect=ONE_REFUSAL):
    head = b"POST /_search HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return sent(name, head + body, expect)


def packed(name, plain, expect=REFUSED, path="/_bulk", media="application/x-ndjson", levels=1, clients=1):
    """A small body that unpacks to much."""

    def body():
        data = plain()
        for _ in range(levels):
            data = gzip.compress(data, 9)
        return data

    return Case(name, "POST", path, body, expect, headers={"Content-Encoding": "gzip", "Content-Type": media}, clients=clients, seconds=60)


def slow_readers(server):
    """Clients that ask for pages and never take them."""
    held = []
    body = b'{"size":10000}'
    head = b"POST /pages/_search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    for _ in range(100):
        stream = socket.socket()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.connect(("127.0.0.1", server.port))
        stream.sendall(head + body)
        held.append(stream)
    time.sleep(4)
    for stream in held:
        stream.close()
    return [200]


def pipelined_readers(server):
    """Many requests in a row on each connection, no answer read."""
    held = []
    for _ in range(50):
        stream = connect(server)
        stream.settimeout(0.5)
        try:
            stream.sendall(b"GET /pages/_search?size=5000 HTTP/1.1\r\nHost: a\r\n\r\n" * 500)
        except OSError:
            pass
        held.append(stream)
    time.sleep(2)
    for stream in held:
        stream.close()
    return [200]


def slow_writers(promised, count=200):
    def act(server):
        held = []
        for _ in range(count):
            stream = connect(server)
            stream.sendall(b"POST /_bulk HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n{" % promised)
            held.append(stream)
        for _ in range(6):
            time.sleep(0.5)
            for stream in held:
                try:
                    stream.sendall(b" ")
                except OSError:
                    pass
        for stream in held:
            stream.close()
        return [200]

    return act


def half_bodies(server):
    """Bodies of which half arrives, and then nothing."""
    held = []
    for _ in range(40):
        stream = connect(server)
        stream.settimeout(2)
        try:
            stream.sendall(b"POST /_bulk HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nContent-Length: 20000000\r\n\r\n" + b" " * 10_000_000)
        except OSError:
            pass
        held.append(stream)
    time.sleep(2)
    for stream in held:
        stream.close()
    return [200]


def slow_heads(server):
    """One byte of a header after the other on a thousand connections."""
    held = [connect(server) for _ in range(1000)]
    for byte in b"GET / HTTP/1.1\r\nX":
        for stream in held:
            try:
                stream.sendall(bytes([byte]))
            except OSError:
                pass
        time.sleep(0.1)
    for stream in held:
        stream.close()
    return [200]


def idle(count):
    def act(server):
        held = []
        try:
            for _ in range(count):
                held.append(connect(server))
        except OSError:
            pass
        time.sleep(1)
        status, _ = server.send("GET", "/")
        for stream in held:
            stream.close()
        return [status]

    return act


def churn(server):
    """Connections that are opened and reset at once."""
    for _ in range(5000):
        stream = connect(server)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        stream.sendall(b"POST /_search HTTP/1.1\r\n")
        stream.close()
    return [200]


def continued(server):
    """`Expect: 100-continue` for a body that is too large, and one that never comes."""
    found = []
    for length in (1 << 40, 100_000_000):
        with connect(server, 3) as stream:
            stream.sendall(b"POST /_bulk HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % length)
            try:
                found += [status for status in statuses(stream.recv(4096)) if status != 100]
            except OSError:
                pass
    return found or [200]


def pages():
    from case import Lines
    return Lines([line for n in range(5000) for line in ({"index": {}}, {"t": "hello world " * 20, "n": n})])


SETUP = [("POST", "/pages/_bulk?refresh=true", pages)]

CASES = [
    smuggled("both_lengths", b"Content-Length: 2\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"),
    smuggled("both_lengths_reversed", b"Transfer-Encoding: chunked\r\nContent-Length: 6", b"0\r\n\r\nX"),
    smuggled("two_lengths", b"Content-Length: 2\r\nContent-Length: 35"),
    smuggled("equal_lengths", b"Content-Length: 2\r\nContent-Length: 2"),
    smuggled("list_of_lengths", b"Content-Length: 2, 2"),
    smuggled("signed_length", b"Content-Length: +2"),
    smuggled("negative_length", b"Content-Length: -2"),
    smuggled("hex_length", b"Content-Length: 0x2"),
    smuggled("length_of_words", b"Content-Length: two"),
    smuggled("empty_length", b"Content-Length: "),
    smuggled("overflowing_length", b"Content-Length: 18446744073709551618"),
    smuggled("space_before_colon", b"Content-Length : 2"),
    smuggled("tab_before_colon", b"Content-Length\t: 2"),
    smuggled("folded_length", b"Content-Length:\r\n 2"),
    smuggled("folded_header", b"X: y\r\n Content-Length: 2"),
    smuggled("bare_lf", b"X: y\nContent-Length: 2"),
    smuggled("bare_cr", b"X: y\rContent-Length: 2"),
    smuggled("nul_in_name", b"Content-\x00Length: 2"),
    smuggled("nul_in_value", b"Content-Length: 2\x00"),
    smuggled("xchunked", b"Transfer-Encoding: xchunked"),
    smuggled("chunked_twice", b"Transfer-Encoding: chunked, chunked", b"0\r\n\r\n"),
    smuggled("chunked_not_last", b"Transfer-Encoding: chunked, identity", b"0\r\n\r\n"),
    smuggled("chunked_and_gzip", b"Transfer-Encoding: gzip, chunked", b"0\r\n\r\n"),
    smuggled("chunked_vertical_tab", b"Transfer-Encoding:\x0bchunked", b"0\r\n\r\n"),
    smuggled("chunked_quoted", b'Transfer-Encoding: "chunked"', b"0\r\n\r\n"),
    smuggled("chunked_case_and_length", b"transfer-ENCODING: ChUnKeD\r\ncontent-LENGTH: 2", b"0\r\n\r\n"),
    smuggled("two_codings", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", b"0\r\n\r\n"),
    smuggled("no_colon", b"Content-Length 2"),
    smuggled("name_of_nothing", b": 2\r\nContent-Length: 2"),
    chunked("chunk_bare_lf", b"2\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_too_long", b"2\r\n{}X\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_size_hex_prefix", b"0x2\r\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_size_negative", b"-2\r\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_size_plus", b"+2\r\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_size_underscore", b"0_2\r\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_size_space", b" 2\r\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_size_overflow", b"10000000000000002\r\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_size_huge", b"ffffffffffffffff\r\n{}"),
    chunked("chunk_size_zeros", b"0" * 100_000 + b"2\r\n{}\r\n0\r\n\r\n"),
    chunked("chunk_extension_lf", b"2;a\nb\r\n{}\r\n0\r\n\r\n" + HIDDEN),
    chunked("chunk_extension_long", b"2;" + b"x" * 1_000_000 + b"\r\n{}\r\n0\r\n\r\n"),
    chunked("chunk_extensions", b"".join(b"1;" + b"x" * 8_000 + b"\r\n \r\n" for _ in range(2_000)) + b"0\r\n\r\n", OK + ONE_REFUSAL),
    chunked("chunks_of_one", b"1\r\n \r\n" * 500_000 + b"2\r\n{}\r\n0\r\n\r\n", OK + ONE_REFUSAL),
    chunked("trailers_long", b"2\r\n{}\r\n0\r\n" + b"a: b\r\n" * 200_000 + b"\r\n", OK + ONE_REFUSAL),
    chunked("trailer_one_long", b"2\r\n{}\r\n0\r\na: " + b"b" * 5_000_000 + b"\r\n\r\n", OK + ONE_REFUSAL),
    chunked("trailer_length", b"2\r\n{}\r\n0\r\nContent-Length: 50\r\n\r\n", OK + ONE_REFUSAL),
    sent("version_1_0_chunked", b"POST /_search HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN),
    sent("version_9", b"GET / HTTP/9.9\r\nHost: a\r\n\r\n"),
    sent("version_0_9", b"GET /\r\n\r\n"),
    sent("http_2_preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00" * 1000),
    sent("tls_hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 600),
    sent("upgrade_h2c", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
         OK + ONE_REFUSAL),
    sent("no_host", b"GET / HTTP/1.1\r\n\r\n"),
    sent("two_hosts", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    sent("noise", lambda: zlib.compress(b"noise" * 1000) * 200),
    sent("line_without_end", lambda: b"GET /" + b"a" * 20_000_000),
    sent("headers_without_end", lambda: b"GET / HTTP/1.1\r\nHost: a\r\n" + b"x: y\r\n" * 2_000_000),
    sent("header_without_end", lambda: b"GET / HTTP/1.1\r\nHost: a\r\nx: " + b"y" * 20_000_000),
    sent("many_small_headers", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + b"x:\r\n" * 1_500 + b"\r\n", OK + ONE_REFUSAL),
    sent("empty_lines", lambda: b"\r\n" * 2_000_000 + b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", OK + ONE_REFUSAL),
    sent("absolute_form", b"GET http://127.0.0.1/../../etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", OK + REFUSED),
    sent("asterisk_form", b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", OK + REFUSED),
    sent("authority_form", b"CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", OK + REFUSED),
    sent("trace", b"TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Secret: s\r\n\r\n", REFUSED),
    sent("short_body", b"POST /_search HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n{}", half_close=True),
    sent("pipelined", b"GET /pages/_count HTTP/1.1\r\nHost: a\r\n\r\n" * 2_000 + b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200, timeout=30),
    Case("parameters", "GET", "/_search?" + "&".join(f"a{n}=b" for n in range(400)), None, 400),
    Case("parameter_repeated", "GET", "/_search?" + "size=1&" * 400 + "size=1", None, OK + (400,)),
    Case("percent_encoding", "GET", "/" + "%25" * 1_000, None, REFUSED),
    Case("percent_broken", "GET", "/%zz/%", None, REFUSED),
    Case("percent_nul", "GET", "/a%00b/_search", None, REFUSED),
    Case("opaque_id", "GET", "/_tasks?detailed", None, OK + REFUSED, headers={"X-Opaque-Id": "x" * 10_000}, clients=8),
    Case("opaque_id_forged", "GET", "/_tasks", None, OK + REFUSED, headers={"X-Opaque-Id": "1:99999999999999999999:\x7f\xff"}),
    Case("accept", "GET", "/", None, OK + (406,), headers={"Accept": ", ".join(["application/vnd.elasticsearch+json;compatible-with=8"] * 200)}),
    Case("accept_odd", "GET", "/", None, OK + (400, 406), headers={"Accept": "application/vnd.elasticsearch+json;compatible-with=99999999999999999999"}),
    Case("content_type", "POST", "/_search", b"{}", OK + REFUSED, headers={"Content-Type": "application/json;charset=" + "x" * 10_000}),
    Case("cbor_deep", "POST", "/_search", b"\x81" * 500_000 + b"\x01", REFUSED, headers={"Content-Type": "application/cbor"}),
    Case("cbor_long_list", "POST", "/_search", b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", REFUSED, headers={"Content-Type": "application/cbor"}),
    Case("cbor_long_text", "POST", "/_search", b"\x7b\x00\x00\x00\xff\xff\xff\xff\xff", REFUSED, headers={"Content-Type": "application/cbor"}),
    Case("cbor_endless_list", "POST", "/_search", lambda: b"\x9f" + b"\xf6" * 20_000_000, REFUSED, headers={"Content-Type": "application/cbor"}),
    Case("cbor_multiplies", "POST", "/_search", lambda: b"\x9a\x00\xb7\x1b\x00" + b"\x80" * 12_000_000, REFUSED, headers={"Content-Type": "application/cbor"}),
    Case("yaml_bomb", "POST", "/_search", "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij")), REFUSED, headers={"Content-Type": "application/yaml"}),
    Case("yaml_deep", "POST", "/_search", "[" * 200_000, REFUSED, headers={"Content-Type": "application/yaml"}),
    Case("yaml_keys", "POST", "/_search", lambda: "".join(f"k{n}: {n}\n" for n in range(500_000)), REFUSED, headers={"Content-Type": "application/yaml"}),
    Case("smile_shared_names", "POST", "/_search", b":)\n\x03" + b"\xfa" * 200_000, REFUSED, headers={"Content-Type": "application/smile"}),
    Case("smile_deep", "POST", "/_search", b":)\n\x00" + b"\xf8" * 500_000, REFUSED, headers={"Content-Type": "application/smile"}),
    packed("bomb_zeros", lambda: bytes(300_000_000)),
    packed("bomb_spaces", lambda: b" " * 300_000_000),
    packed("bomb_in_bomb", lambda: b"\0" * 100_000_000, levels=3),
    packed("bomb_search", lambda: b'{"query":' + b"[" * 50_000_000, path="/_search", media="application/json"),
    packed("bombs", lambda: b" " * 100_000_000, clients=16),
    packed("bomb_documents", lambda: b'{"index":{}}\n{"a":"' + b"x" * 60_000_000 + b'"}\n', OK + REFUSED, path="/bombed/_bulk"),
    packed("bomb_items", lambda: b'{"index":{}}\n{}\n' * 4_000_000, OK + REFUSED, path="/bombed/_bulk"),
    Case("gzip_cut", "POST", "/_search", lambda: gzip.compress(b"{}" * 10_000)[:30], 400, headers={"Content-Encoding": "gzip"}),
    Case("gzip_wrong_sum", "POST", "/_search", lambda: gzip.compress(b"{}")[:-8] + b"\0" * 8, 400, headers={"Content-Encoding": "gzip"}),
    Case("gzip_members", "POST", "/_search", lambda: gzip.compress(b"") * 500_000, OK + REFUSED, headers={"Content-Encoding": "gzip"}),
    Case("gzip_name_without_end", "POST", "/_search", lambda: b"\x1f\x8b\x08\x08\0\0\0\0\0\0" + b"n" * 20_000_000, REFUSED, headers={"Content-Encoding": "gzip"}),
    Case("coding_unknown", "POST", "/_search", b"{}", 415, headers={"Content-Encoding": "br"}),
    Case("coding_stacked", "POST", "/_search", b"{}", REFUSED, headers={"Content-Encoding": "gzip, gzip"}),
    acts("slow_readers", slow_readers),
    acts("pipelined_readers", pipelined_readers),
    acts("slow_writers", slow_writers(100_000_000)),
    acts("slow_small_writers", slow_writers(2_000), seconds=40),
    acts("half_bodies", half_bodies),
    acts("slow_heads", slow_heads),
    acts("idle_2000", idle(2_000)),
    acts("churn", churn),
    acts("continue", continued),
]
