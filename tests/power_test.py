#!/usr/bin/env python3
"""What stands on the disk after the power went: power_test.py DPLOC SHIM

A run is recorded: every change it makes to files and names, with its bytes, and every fsync. Then
the disk as it may be after a loss of power in the middle of it is put together, again and again.
What was flushed is there. Of what was written to a file since its last fsync, each piece is there
or is not, in any combination. Of names that were made, replaced and removed since their folder was
flushed, the first few are there (file systems keep a journal of names). On each such disk:

- what stands under an output's name is whole, as after a crash (crash_test.py);
- everything that a certificate names was reserved in the ledger, and every reservation that had
  been flushed is still in it;
- `dploc inspect` reads the ledger, and the next fit is made and charged.

A test of the test removes every fsync from the record and demands that a check fails.
The quick form makes DISKS of them for each command; with DPLOC_SOAK 100 times as many.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import unittest

import crash_test
from crash_test import SOAK, run
from fault_test import COMMANDS, Faults

DISKS = 2500 if SOAK else 25


def read_record(path):
    """The changes: (call, inode, offset, bytes, name)."""
    with open(path, "rb") as file:
        data = file.read()
    changes, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        call, inode, offset, length, name = data[at:end].decode().split(" ", 4)
        at = end + 1 + int(length)
        changes.append((call, int(inode), int(offset), data[end + 1:at], name))
    return changes


class Disk:
    """Files by number and names by folder: what is flushed, and what is on its way."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {}  # path -> inode, flushed
        self.content = {}  # inode -> bytes, flushed
        self.pending_names = {}  # folder -> changes in order
        self.pending_bytes = {}  # inode -> changes in order
        self.seen = {}  # path -> inode, as the program sees it
        self.newest = {}  # inode -> which file has the number now: numbers come again
        for base, folders, files in os.walk(folder):
            for name in folders + files:
                path = os.path.join(base, name)
                self.names[path] = self.seen[path] = inode = os.stat(path).st_ino
                if name in files:
                    with open(path, "rb") as file:
                        self.content[inode] = file.read()

    def full(self, name):
        return os.path.normpath(os.path.join(self.folder, name))

    def change_name(self, path, inode):
        """A name now stands for the inode (None: for nothing)."""
        if inode is None:
            self.seen.pop(path, None)
        else:
            self.seen[path] = inode
        self.pending_names.setdefault(os.path.dirname(path), []).append((path, inode))

    def apply(self, change):
        call, inode, offset, data, name = change
        path = self.full(name)
        if call == "create":
            self.newest[inode] = (inode, len(self.content))
        inode = self.newest.get(inode, inode)
        other = self.full(data.decode()) if call in ("rename", "link") else None
        if call in ("write", "truncate"):
            self.pending_bytes.setdefault(inode, []).append((call, offset, data))
        elif call == "create":
            self.content[inode] = b""
            self.change_name(path, inode)
        elif call == "mkdir":
            self.change_name(path, -1)
        elif call == "unlink":
            self.change_name(path, None)
        elif call == "link":
            self.change_name(other, self.seen.get(path))
        elif call == "rename":  # one change of two names
            self.seen[other] = moved = self.seen.pop(path, None)
            self.pending_names.setdefault(os.path.dirname(path), []).append(
                (other, moved, path))
        elif os.path.isdir(path) or self.seen.get(path) == -1:
            self.put_names(path, len(self.pending_names.get(path, ())))
        else:
            self.put_bytes(inode, self.pending_bytes.get(inode, ()))
            self.pending_bytes.pop(inode, None)

    def put_names(self, folder, n):
        waiting = self.pending_names.get(folder, [])
        for path, inode, *old in waiting[:n]:
            if inode is None:
                self.names.pop(path, None)
            else:
                self.names[path] = inode
            for name in old:
                self.names.pop(name, None)
        self.pending_names[folder] = waiting[n:]

    def put_bytes(self, inode, changes):
        content = bytearray(self.content.get(inode, b""))
        for call, offset, data in changes:
            if call == "truncate":
                del content[offset:]
            content.extend(bytes(max(0, offset + len(data) - len(content))))
            content[offset:offset + len(data)] = data
        self.content[inode] = bytes(content)

    def lose(self, draw):
        """The power goes: a part of what is on its way has arrived."""
        for folder, waiting in self.pending_names.items():
            self.put_names(folder, draw.randint(0, len(waiting)))
        for inode, changes in self.pending_bytes.items():
            self.put_bytes(inode, [change for change in changes if draw.random() < 0.5])

    def make(self, folder):
        """The disk as a folder."""
        for path, inode in sorted(self.names.items()):
            to = os.path.join(folder, os.path.relpath(path, self.folder))
            above = os.path.dirname(path)
            if above != self.folder and above not in self.names:
                continue  # the folder above did not make it
            if inode == -1 or inode not in self.content:
                os.makedirs(to, 0o700, exist_ok=True)
                continue
            with open(to, "wb") as file:
                file.write(self.content[inode])
            os.chmod(to, 0o600)


def reserved(text):
    """The names that a ledger has reservations of; a last line that is cut off is none."""
    lines = text.decode(errors="replace").split("\n")[:-1]
    found = set()
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("type") == "reserve":
            found.add(entry["name"])
    return found


class Power(Faults):
    """Faults for its checks; its own tests are taken out below."""

    def recorded(self, name):
        """The folder before, and what was done to it."""
        folder = self.fresh(name)
        before = self.twin(folder)
        record = os.path.join(self.base.scratch, name + ".record")
        status, words = run(before, COMMANDS[name], record=record)
        self.assertEqual(status, 0, words)
        changes = [(call, inode, offset, data.replace(before.encode(), folder.encode())
                    if call in ("rename", "link") else data, path.replace(before, folder))
                   for call, inode, offset, data, path in read_record(record)]
        os.unlink(record)
        shutil.rmtree(before)
        return folder, changes

    def check_disk(self, name, folder, changes, n, draw, where):
        disk = Disk(folder)
        for change in changes[:n]:
            disk.apply(change)
        book = disk.full("book")
        flushed = reserved(disk.content.get(disk.names.get(book), b""))
        disk.lose(draw)
        after = tempfile.mkdtemp(dir=self.base.scratch)
        disk.make(after)
        if flushed:
            with open(os.path.join(after, "book"), "rb") as file:
                self.assertLessEqual(flushed, reserved(file.read()), where)
            self.assertEqual(run(after, ["inspect", "book"])[0], 0, where)
        self.check_after(name, after, self.inputs_of(folder), where)
        shutil.rmtree(after)

    def sweep_power(self, name):
        draw = random.Random(name)
        folder, changes = self.recorded(name)
        for i in range(DISKS):
            n = draw.randint(1, len(changes))
            self.check_disk(name, folder, changes, n, draw,
                            f"{name}: the power goes after change {n} of {len(changes)}, disk {i}")

    def test_without_fsync(self):
        """A program that never flushes is found out."""
        draw = random.Random("without")
        folder, changes = self.recorded("fit")
        changes = [change for change in changes if change[0] != "fsync"]
        with self.assertRaises(Exception):
            for i in range(50):
                self.check_disk("fit", folder, changes, len(changes), draw, f"disk {i}")


def add_tests():
    for name in [name for name in dir(Faults) if name.startswith("test_")]:
        setattr(Power, name, None)
    for name in COMMANDS:
        setattr(Power, f"test_power_{name}", lambda self, name=name: self.sweep_power(name))


add_tests()
del Faults
if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
