"""Starts an adapter for mfbench: python3 -I launch.py ADAPTER FOLDER

It stays as the parent of the adapter, and does what must be done by a process for itself: without a
network where the kernel lets it, an end with mfbench's, no core files. It prints nothing, and ends as the
adapter ends. What it achieved stands in FOLDER/launch.json.
"""

import ctypes
import fcntl
import json
import os
import pathlib
import resource
import signal
import socket
import struct
import sys

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags):
    """None, or why it cannot be."""
    if libc.unshare(flags) == 0:
        return None
    return os.strerror(ctypes.get_errno())


def keep_ids(user, group):
    """Who we are in a user namespace of our own: the same."""
    try:
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError as error:
        print(f"launch.py: ids are not mapped: {error}", file=sys.stderr)


def loopback_up():
    """Libraries talk to themselves over it (Spark)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        name, flags = struct.unpack("16sh22x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", name, flags | IFF_UP))


def leave_network():
    """("none", "") without a network but the machine's own loopback, or ("host", why)."""
    user, group = os.getuid(), os.getgid()
    why = unshare(CLONE_NEWNET)
    if why:
        why = unshare(CLONE_NEWUSER | CLONE_NEWNET)
        if why:
            return "host", f"the kernel gives no network namespace: {why}"
        keep_ids(user, group)
    try:
        loopback_up()
    except OSError as error:
        return "none", f"its loopback stays down: {error}"
    return "none", ""


def end_with(parent):
    """A signal when the parent dies; at once where it has."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


def end_as(status):
    """Ends this process as another one ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xff)


def needs_network(request):
    """The one reason to keep it: a cluster that the spec names."""
    return bool(request["params"].get("cluster", False))


def limit_addresses(request):
    """Of what descends from here, where mfbench says that it may be done: more is then refused at once."""
    limit = request.get("address_bytes", 0)
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    if limit and (most == resource.RLIM_INFINITY or limit < most):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def run(adapter, folder):
    """Adapters are named as their libraries: their folder must not be among those that are searched."""
    import importlib.util
    import runpy
    sys.argv = [str(adapter), str(folder)]
    for name in ("mfpeer", "mfprogram"):
        path = adapter.with_name(f"{name}.py")
        if not path.exists():
            continue
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    runpy.run_path(str(adapter), run_name="__main__")


def main():
    adapter, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    parent = os.getppid()
    # mfbench's death is the end of the whole group, this process included.
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    end_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    network, why = ("host", "the parameter `cluster` asks for it") if needs_network(request) else \
        leave_network()
    limit_addresses(request)
    (folder / "launch.json").write_text(json.dumps({"network": network, "network_why": why}))
    here = os.getpid()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != here:
            os._exit(1)
        run(adapter, folder)
        return
    os.close(3)
    while True:
        try:
            _, status = os.waitpid(child, 0)
            break
        except InterruptedError:
            continue
    end_as(status)


if __name__ == "__main__":
    main()
