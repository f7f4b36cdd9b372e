# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What calls raise: the code, and its text as the library has it."""

from ._ffi import ffi, lib

SUCCESS, NOT_DONE, INVALID_PARAMETER, ERROR_RESOURCE, TIMEOUT, REJECT = range(6)
DESCRIPTOR_ERROR, INVALID_STATE, ERROR_NAMESERVICE, NO_MATCH = 11, 12, 13, 14
NOT_REACHABLE, NOT_SUPPORTED = 15, 16


# Of these the code has no reason behind it: they leave VipExtLastError.
WITHOUT_REASON = {"VipPostSend", "VipPostRecv", "VipSendDone", "VipRecvDone",
                  "VipSendWait", "VipRecvWait", "VipCQDone", "VipCQWait"}


def last_reason():
    """The reason of this thread's last call that failed, as one line."""
    text = ffi.string(lib.VipExtLastError()).decode(errors="replace")
    return text.replace("\n", "; ")


class Error(Exception):
    """A call that failed: `call`, `code`, and `reason`, which is "" where the
    code says it all."""

    def __init__(self, call, code):
        self.call, self.code = call, code
        self.reason = "" if call in WITHOUT_REASON else last_reason()
        text = ffi.string(lib.VipExtReturnText(code)).decode()
        super().__init__(": ".join(filter(None, (call, text, self.reason))))


class Timeout(Error, TimeoutError):
    """VIP_TIMEOUT."""


class NoMatch(Error, ConnectionRefusedError):
    """VIP_NO_MATCH: nothing waits there; it may be asked again."""


class Rejected(Error, ConnectionRefusedError):
    """VIP_REJECT."""


class NotSupported(Error):
    """VIP_ERROR_NOT_SUPPORTED: this NIC cannot do it."""


class DescriptorError(Error):
    """A descriptor that completed in error: its `completion`."""

    def __init__(self, call, completion):
        super().__init__(call, DESCRIPTOR_ERROR)
        self.completion = completion
        self.args = (f"{call}: {completion.text}",)

    @property
    def flushed(self):
        """Whether it is back because the connection is over."""
        return bool(self.completion.status & 0x20)


KINDS = {TIMEOUT: Timeout, NO_MATCH: NoMatch, REJECT: Rejected,
         NOT_SUPPORTED: NotSupported}


def check(call, code):
    """The exception of a code, unless it is success."""
    if code != SUCCESS:
        raise KINDS.get(code, Error)(call, code)


def status_text(status):
    """A descriptor's status in words."""
    text = ffi.new("char[128]")
    return ffi.string(lib.VipExtStatusText(status, text, 128)).decode()
