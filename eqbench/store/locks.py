"""Locks between processes, which the system releases when a process ends, however it ends.

Windows has none of these kinds: every lock fails there as on a file system without locks.
"""

from __future__ import annotations

import errno
import sys

# the last is that of Lustre where it is not mounted with locks
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)

LOCKS_FOLDERS = sys.platform != "win32"  # where a folder cannot even be opened

if sys.platform == "win32":

    def lock_file(descriptor: int, *, wait: bool = False) -> None:
        """Raise the OSError of a file system without locks."""
        raise OSError(errno.ENOLCK, "Windows has no such locks")

    def lock_byte(descriptor: int, offset: int = 0, *, shared: bool = False) -> None:
        """Raise the OSError of a file system without locks."""
        raise OSError(errno.ENOLCK, "Windows has no such locks")

    def unlock_byte(descriptor: int, offset: int = 0) -> None:
        """Do nothing."""

else:
    import fcntl

    def lock_file(descriptor: int, *, wait: bool = False) -> None:
        """Lock an open file or folder until it is closed.

        Raises
        ------
        BlockingIOError
            If another open file of it is locked and this does not wait.
        OSError
            If the file system has no locks.
        """
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def lock_byte(descriptor: int, offset: int = 0, *, shared: bool = False) -> None:
        """Lock a byte of an open file for this process, which need not be there.

        Raises
        ------
        BlockingIOError
            If another process holds it.
        OSError
            If the file system has no locks.
        """
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.lockf(descriptor, kind, 1, offset)
        except PermissionError as error:  # POSIX allows systems either of them
            raise BlockingIOError(*error.args) from None

    def unlock_byte(descriptor: int, offset: int = 0) -> None:
        """Release a byte."""
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, offset)
