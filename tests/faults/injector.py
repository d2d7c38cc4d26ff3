"""Starts a program whose file system calls can be made to fail, one at a time, while it runs.

    python3 injector.py <control socket> <fault as JSON, or null> <program> <arguments>...

The program runs under a seccomp filter that hands its file system calls to a supervisor (seccomp_unotify(2)), which lets them go on or
answers with an error. Against `strace -e inject` this counts calls over all threads, fails those on files of the data folder only and never
the sockets, wake-ups and memory of the program, and changes its mind without stopping it. x86-64 only.

A fault: `{"calls": ["fsync"], "errno": 5, "nth": 3, "count": 1, "path": "/data/"}` fails the third call from now on a path that contains
the text, and `count - 1` more after it. `delay` in seconds, instead of `errno`, makes the call slow.
"""
import array
import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import sys
import time

# Numbers of x86-64. Where the path is: argument with a path, argument with a descriptor, or both (a folder and a name in it).
CALLS = {
    "read": (0, None, 0), "write": (1, None, 0), "open": (2, 0, None), "fstat": (5, None, 0), "mmap": (9, None, 4),
    "pread64": (17, None, 0), "pwrite64": (18, None, 0), "flock": (73, None, 0), "fsync": (74, None, 0),
    "fdatasync": (75, None, 0), "ftruncate": (77, None, 0), "rename": (82, 0, None), "mkdir": (83, 0, None),
    "rmdir": (84, 0, None), "link": (86, 0, None), "unlink": (87, 0, None), "getdents64": (217, None, 0),
    "openat": (257, 1, 0), "newfstatat": (262, 1, 0), "unlinkat": (263, 1, 0), "renameat": (264, 1, 0),
    "linkat": (265, 1, 0), "fallocate": (285, None, 0), "renameat2": (316, 1, 0), "copy_file_range": (326, None, 2),
    "statx": (332, 1, 0),
}
NAMES = {number: name for name, (number, _, _) in CALLS.items()}
AUDIT_ARCH_X86_64 = 0xC000003E
SECCOMP_RET_USER_NOTIF, SECCOMP_RET_ALLOW = 0x7FC00000, 0x7FFF0000
SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND = 0xC0502100, 0xC0182101
CONTINUE = 1
MAP_ANONYMOUS = 0x20
AT_FDCWD = -100
PATH_BYTES_MAX = 4096


def instruction(code, true, false, value):
    return struct.pack("=HBBI", code, true, false, value)


def program():
    """The filter: notify for the calls above, but not for memory maps without a file."""
    load, jump_equal, jump_set, answer = 0x20, 0x15, 0x45, 0x06
    numbers = [number for number, _, _ in CALLS.values() if number != CALLS["mmap"][0]]
    count = len(numbers)
    lines = [instruction(load, 0, 0, 4), instruction(jump_equal, 0, count + 4, AUDIT_ARCH_X86_64), instruction(load, 0, 0, 0)]
    for at, number in enumerate(numbers):
        lines.append(instruction(jump_equal, count - at + 3, 0, number))
    lines.append(instruction(jump_equal, 0, 2, CALLS["mmap"][0]))
    lines.append(instruction(load, 0, 0, 16 + 3 * 8))
    lines.append(instruction(jump_set, 0, 1, MAP_ANONYMOUS))
    lines.append(instruction(answer, 0, 0, SECCOMP_RET_ALLOW))
    lines.append(instruction(answer, 0, 0, SECCOMP_RET_USER_NOTIF))
    return b"".join(lines), len(lines)


def install_filter():
    """Puts the calling process under the filter; the descriptor on which its calls arrive."""
    libc = ctypes.CDLL(None, use_errno=True)
    code, count = program()
    memory = ctypes.create_string_buffer(code, len(code))
    fprog = struct.pack("=H6xQ", count, ctypes.addressof(memory))
    header = ctypes.create_string_buffer(fprog, len(fprog))
    if libc.prctl(38, 1, 0, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS
        raise OSError(ctypes.get_errno(), "prctl")
    listener = libc.syscall(317, 1, 8, header)  # seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


class Supervisor:
    def __init__(self, listener, control, fault):
        self.listener = listener
        self.control = control
        # Calls that are being slow: when they may go on, and their ids.
        self.slow = []
        self.arm(fault)

    def arm(self, fault):
        self.fault = fault
        self.numbers = {CALLS[name][0] for name in fault["calls"]} if fault else set()
        self.seen, self.fired = 0, []

    def serve(self):
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        poll.register(self.control, select.POLLIN)
        clients = {}
        while True:
            due = min((due for due, _ in self.slow), default=None)
            for fd, event in poll.poll(None if due is None else max(0, 1000 * (due - time.monotonic()))):
                if fd == self.listener:
                    if event & (select.POLLHUP | select.POLLERR):
                        return
                    self.one_call()
                elif fd == self.control.fileno():
                    client, _ = self.control.accept()
                    clients[client.fileno()] = client
                    poll.register(client, select.POLLIN)
                elif not self.one_command(clients[fd]):
                    poll.unregister(fd)
                    clients.pop(fd).close()
            for due, id in [slow for slow in self.slow if slow[0] <= time.monotonic()]:
                self.slow.remove((due, id))
                self.answer(id, 0)

    def one_command(self, client):
        command = client.recv(65_536)
        if not command:
            return False
        fault = json.loads(command)
        if fault != "status":
            self.arm(fault)
        client.sendall(json.dumps({"seen": self.seen, "fired": self.fired}).encode() + b"\n")
        return True

    def one_call(self):
        notice = bytearray(80)
        try:
            fcntl.ioctl(self.listener, SECCOMP_IOCTL_NOTIF_RECV, notice)
        except OSError:
            return  # the thread was killed meanwhile
        id, pid, _, number = struct.unpack_from("=QIIi", notice)
        fails = number in self.numbers and self.is_hit(pid, number, struct.unpack_from("=6Q", notice, 32))
        if fails and "delay" in self.fault:
            self.slow.append((time.monotonic() + self.fault["delay"], id))
        else:
            self.answer(id, self.fault["errno"] if fails else 0)

    def answer(self, id, error):
        answer = struct.pack("=QqiI", id, 0, -error, 0) if error else struct.pack("=QqiI", id, 0, 0, CONTINUE)
        try:
            fcntl.ioctl(self.listener, SECCOMP_IOCTL_NOTIF_SEND, answer)
        except OSError:
            pass  # likewise

    def is_hit(self, pid, number, arguments):
        """Whether this is a call that the fault is for."""
        path = path_of(pid, number, arguments)
        if path is None or self.fault.get("path", "") not in path:
            return False
        self.seen += 1
        first = self.fault["nth"]
        if not first <= self.seen < first + self.fault.get("count", 1):
            return False
        if len(self.fired) < 100:
            self.fired.append([NAMES[number], path])
        return True


def path_of(pid, number, arguments):
    _, path_argument, descriptor_argument = CALLS[NAMES[number]]
    path = ""
    try:
        if path_argument is not None and arguments[path_argument]:
            with open(f"/proc/{pid}/mem", "rb", 0) as memory:
                memory.seek(arguments[path_argument])
                path = read_text(memory, arguments[path_argument])
        if path.startswith("/") or descriptor_argument is None:
            return path
        descriptor = ctypes.c_int32(arguments[descriptor_argument] & 0xFFFFFFFF).value
        if descriptor == AT_FDCWD:
            return os.path.join(os.readlink(f"/proc/{pid}/cwd"), path)
        folder = os.readlink(f"/proc/{pid}/fd/{descriptor}")
        return os.path.join(folder, path) if path else folder
    except OSError:
        return None


def read_text(memory, address):
    """Up to the zero byte; page by page, for the next page may not be there."""
    found = b""
    while b"\0" not in found and len(found) < PATH_BYTES_MAX:
        found += memory.read(4096 - (address + len(found)) % 4096)
    return found.split(b"\0", 1)[0].decode(errors="replace")


class Control:
    """The side of the script: arms faults, asks what happened."""

    def __init__(self, path):
        """The injector may only just have been started."""
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + 10
        while True:
            try:
                return self.socket.connect(str(path))
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.002)

    def send(self, command):
        self.socket.sendall(json.dumps(command).encode())
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self.socket.recv(65_536)
        return json.loads(answer)

    def arm(self, fault):
        return self.send(fault)

    def disarm(self):
        """What has fired."""
        status = self.send("status")
        self.send(None)
        return status

    def status(self):
        return self.send("status")

    def close(self):
        self.socket.close()


def main():
    control_path, fault, command = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    control = socket.socket(socket.AF_UNIX)
    control.bind(control_path)
    control.listen()
    ours, theirs = socket.socketpair()
    middle = os.fork()
    if middle == 0:
        # A grandchild supervises, so that the program has no child of its own to wait for.
        if os.fork() == 0:
            ours.close()
            _, ancillary, _, _ = theirs.recvmsg(1, socket.CMSG_SPACE(4))
            listener = array.array("i", ancillary[0][2])[0]
            Supervisor(listener, control, fault).serve()
        os._exit(0)
    os.waitpid(middle, 0)
    control.close()
    theirs.close()
    listener = install_filter()
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))])
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
