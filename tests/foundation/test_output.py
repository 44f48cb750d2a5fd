"""Files that are written: whole or not at all, with the mode and the owner they had, and only in place of files."""

import errno
import os
import socket
import stat
import subprocess
import sys

import pytest

from gossamer import output
from gossamer.cli import arguments as cli

ROWS = "1 1:0.5 2:1\n-1 1:-1 3:2\n" * 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.svm").write_text(ROWS)
    assert cli.main(["train", "a.svm", "-o", "m.gsm", "-q", "--alpha", "1e-3"]) == 0
    return tmp_path


def writers(name):
    """Return every command that writes a file, writing this one."""
    train = ["train", "a.svm", "-q", "--alpha", "1e-3"]
    return {
        "model": [*train, "-o", name],
        "report": [*train, "-o", "other.gsm", "--report", name],
        "quarantine": [*train, "-o", "other.gsm", "--on-error", "quarantine", name],
        "predictions": ["predict", "m.gsm", "a.svm", "-o", name],
        "json": ["export", "m.gsm", "--to", "json", "-o", name],
        "c": ["export", "m.gsm", "--to", "c", "-o", name],
        "sql": ["export", "m.gsm", "--to", "sql", "-o", name],
    }


over_writers = pytest.mark.parametrize("writer", writers("x"))


def node(path, kind):
    try:
        os.mknod(path, kind | 0o600, os.makedev(1, 7))  # as /dev/full
    except PermissionError:
        pytest.skip("making a device is not permitted")


def listening(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


SPECIAL = {
    "a device": lambda path: node(path, stat.S_IFCHR),
    "a pipe": os.mkfifo,
    "a socket": listening,
    "a folder": os.mkdir,
}


@over_writers
@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_not_a_file_is_refused(folder, capsys, writer, kind):
    SPECIAL[kind]("x")
    before = os.lstat("x")
    os.symlink("x", "link")
    for name in ("x", "link"):
        assert cli.main(writers(name)[writer]) == 1
        assert f"'{name}' is {kind}, which is never replaced" in capsys.readouterr().err
    after = os.lstat("x")
    assert (after.st_mode, after.st_ino, after.st_rdev) == (before.st_mode, before.st_ino, before.st_rdev)
    assert not (folder / "other.gsm").exists()  # refused before any work


@over_writers
def test_links_are_followed(folder, writer):
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "real").write_bytes(b"old")
    os.symlink("elsewhere/real", "second")
    os.symlink("second", "first")
    assert cli.main(writers("first")[writer]) == 0
    assert os.readlink("first") == "second"
    assert os.readlink("second") == "elsewhere/real"
    assert (folder / "elsewhere" / "real").read_bytes() != b"old"
    assert os.listdir("elsewhere") == ["real"]
    os.symlink("new", "dangling")
    assert cli.main(writers("dangling")[writer]) == 0
    assert (folder / "new").is_file()
    assert os.readlink("dangling") == "new"


@over_writers
def test_mode_and_owner_stay(folder, writer):
    (folder / "x").write_bytes(b"old")
    (folder / "x").chmod(0o640)
    if os.geteuid() == 0:
        os.chown("x", 1234, 4321)
    before = os.stat("x")
    assert cli.main(writers("x")[writer]) == 0
    after = os.stat("x")
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert (folder / "x").read_bytes() != b"old"


def test_a_new_file_has_the_mode_of_the_umask(folder):
    before = os.umask(0o027)
    try:
        output.write("x", [b"a", b"b"])
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("x").st_mode) == 0o640
    assert (folder / "x").read_bytes() == b"ab"


@over_writers
def test_a_read_only_file_is_refused(folder, capsys, writer):
    (folder / "x").write_bytes(b"old")
    (folder / "x").chmod(0o444)
    assert cli.main(writers("x")[writer]) == 1
    assert "'x' is read-only; make it writable" in capsys.readouterr().err
    assert (folder / "x").read_bytes() == b"old"
    assert not (folder / "other.gsm").exists()


REFUSED = {
    "no folder": ("nowhere/x", "there is no folder"),
    "no name": ("elsewhere/", "is not the name of a file"),
    "empty": ("", "is not the name of a file"),
    "a loop": ("loop", "symbolic links"),
    "standard output": ("/dev/stdout", "is an open file of a process|is a device|is a pipe"),
    "an open file": ("/proc/self/fd/1", "is an open file of a process"),
}


@pytest.mark.parametrize(("name", "words"), REFUSED.values(), ids=REFUSED)
def test_other_names_are_refused(folder, name, words):
    if name.startswith("/proc") and not os.path.exists("/proc/self/fd"):
        pytest.skip("there is no /proc")
    os.symlink("loop", "loop")
    with pytest.raises(OSError, match=words):
        output.check(name)
    with pytest.raises(OSError, match=words):
        output.write(name, [b"a"])


def test_what_is_read_is_not_replaced(folder, capsys):
    os.link("a.svm", "same.svm")
    for command in (
        ["train", "a.svm", "-o", "a.svm"],
        ["train", "a*.svm", "-o", "./a.svm"],
        ["predict", "m.gsm", "a.svm", "-o", "m.gsm"],
        ["predict", "m.gsm", "a.svm", "-o", "a.svm"],
        ["export", "m.gsm", "--to", "c", "-o", "m.gsm"],
    ):
        assert cli.main(command) == 2
        assert "would replace a file that is read" in capsys.readouterr().err
    assert cli.main(["train", "a.svm", "-o", "y", "--report", "y"]) == 2
    assert "named for two files" in capsys.readouterr().err
    assert (folder / "a.svm").read_text() == ROWS


def test_a_dash_is_standard_output(folder, capsys):
    assert cli.main(["predict", "m.gsm", "a.svm", "-o", "-"]) == 0
    assert len(capsys.readouterr().out.split()) == 80
    assert cli.main(["export", "m.gsm", "--to", "json", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith('{"kind"')
    assert cli.main(["train", "a.svm", "-o", "-"]) == 2
    assert "A model is a file" in capsys.readouterr().err
    assert not (folder / "-").exists()


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
from gossamer.cli.arguments import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("writer", [name for name in writers("x") if name != "quarantine"])
def test_a_full_disk_leaves_the_old_file(folder, writer):
    (folder / "x").write_bytes(b"old")
    (folder / "b.svm").write_text(ROWS * 20)  # more than 300 bytes of predictions
    command = ["b.svm" if word == "a.svm" else word for word in writers("x")[writer]]
    (folder / "other.gsm").write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", LIMITED, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "could not be written (File too large); the file that was there is unchanged." in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (folder / "x").read_bytes() == b"old"
    assert not [name for name in os.listdir(".") if name.startswith(".")]


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    """As on a disk without room, which has another number than a limit of the process."""

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"could not be written \(No space left.*\); there is no such file now"):
        output.write(tmp_path / "x", [b"a"])
    assert list(tmp_path.iterdir()) == []


def test_what_raises_inside_removes_the_new_file(tmp_path):
    (tmp_path / "x").write_bytes(b"old")

    def parts():
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        output.write(tmp_path / "x", parts())
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_long_name(tmp_path):
    name = "é" * 120
    output.write(tmp_path / name, [b"a"])
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_file_of_another_user(tmp_path):
    """In a folder that all may write to, a file of another user cannot keep its owner: it is refused."""
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "x").chmod(0o666)
    tmp_path.chmod(0o777)
    for place in tmp_path.parents:  # the other user gets there
        if not place.stat().st_mode & 0o001:
            place.chmod(place.stat().st_mode | 0o001)
    code = (
        "import os, sys; sys.path[:] = sys.argv[2].split(':'); from gossamer import output; os.setgid(4321); "
        "os.setuid(1234); output.write(sys.argv[1], [b'new'])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "x"), ":".join(sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "its owner and permissions cannot be kept" in done.stderr
    assert (tmp_path / "x").read_bytes() == b"old"
