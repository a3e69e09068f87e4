"""What can go wrong while settings are read.

Answered                 not an error: --help or --version asked for a text
SettingsError            exit code and one line for the operator
├── UnknownOption        1  a flag nobody knows
├── InvalidPort          1  the one wrong value that has its own answer in the contract
└── InvalidSetting       2  a wrong value or half a configuration
"""


class Answered(Exception):
    """The command line asked for a text (`--help`, `--version`) instead of a run."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class SettingsError(Exception):
    """One line that names the setting; `exit_code` is what a program ends with."""

    exit_code = 2


class UnknownOption(SettingsError):
    exit_code = 1


class InvalidPort(SettingsError):
    exit_code = 1


class InvalidSetting(SettingsError):
    exit_code = 2
