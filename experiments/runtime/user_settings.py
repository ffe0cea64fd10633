"""Settings from files and the command line set this program's own settings and nothing else.

Hydra would also execute what a file names (callbacks, launchers, `_target_`), look into the environment
(interpolations) and add folders to its search path. A user's YAML is checked as it is read, whatever way it comes in,
before anything is made of it; so are the words of the command line and the settings that a run's folder stores.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from configs import FOLDER
from experiments.runtime.errors import UserError
from plants.core.reading.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hydra.plugins.config_source import ConfigResult

_LARGEST = 2**17  # bytes of a YAML file: its reader is slow
_DEPTH = 32
_QUIET = ("hydra/hydra_logging=none", "hydra/job_logging=none")
_SWEEP = re.compile(
    r"hydra\.sweep\.(dir|subdir)=[^{$]*$"
    r"|hydra/(launcher=(basic|joblib|submitit_local|submitit_slurm)|sweeper=(basic|optuna))$"
    r"|hydra/sweeper/sampler=[a-z]+$"
    r"|hydra\.(launcher|sweeper)\.(?!.*_target_)[a-z_.]+=[^$]*$"
)  # typed by the user: where the runs of -m go, and by what they are run; no file may say it
_HYDRA = re.compile(r"(^|[\s~+/@.:])hydra($|[\s/@.:])")
_EXECUTES = re.compile(r"_(target|args|partial|recursive|convert)_")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check_arguments(words: Sequence[str]) -> None:
    """Raise UserError for arguments of Hydra's that replace or add to what this program executes.

    Raises
    ------
    SystemExit
        For flags that there are not, as Hydra does.
    """
    from hydra._internal.utils import get_args_parser

    given = get_args_parser().parse_args(list(words))
    if given.experimental_rerun is not None:
        raise UserError("--experimental-rerun would load a pickle, which executes it; use resume=RUN_FOLDER")
    if given.config_path is not None or given.config_name is not None:
        raise UserError(
            "--config-path and --config-name would replace the program's own settings; put parts of your own into a "
            "folder and give --config-dir=FOLDER part=NAME"
        )
    check_words(word for word in given.overrides if not _SWEEP.match(word))


def check_words(words: Iterable[str]) -> None:
    """Raise UserError for an argument that sets something of Hydra's, names what to call, or refers elsewhere."""
    for word in words:
        if word not in _QUIET and _HYDRA.search(word.partition("=")[0]):
            raise UserError(f"{word!r} would change how commands are started; only this program's settings can be set")
        _check_scalar(word, repr(word))


def check_values(value: Any, name: str) -> None:
    """Raise UserError where stored settings refer to something else, or name something to call."""
    for text in _words(value):
        _check_scalar(text, name)


def _words(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (str(key), *_words(item))
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)


def _check_scalar(text: str, name: str) -> None:
    if "${" in text:
        raise UserError(f"{name}: settings are values and refer to nothing; write the value in place of {text[:60]!r}")
    if _EXECUTES.search(text):
        raise UserError(f"{name}: settings call nothing, got {text[:60]!r}")


def guard() -> None:
    """Have every YAML file that Hydra reads checked, but for this program's own; repeating it does no harm."""
    from hydra._internal.core_plugins.file_config_source import FileConfigSource
    from hydra._internal.core_plugins.importlib_resources_config_source import ImportlibResourcesConfigSource
    from hydra._internal.sources_registry import SourcesRegistry
    from hydra.core.plugins import Plugins

    class CheckedFileSource(FileConfigSource):
        """Folders of YAML files: the program's own, and a user's."""

        def load_config(self, config_path: str) -> ConfigResult:
            _stay_inside(config_path)
            file = Path(self.path, self._normalize_file_name(config_path)).resolve()
            if file.exists() and not file.is_relative_to(FOLDER.resolve()):
                checked(file)
            return super().load_config(config_path)

    class CheckedPackageSource(ImportlibResourcesConfigSource):
        """What Hydra brings with it."""

        def load_config(self, config_path: str) -> ConfigResult:
            _stay_inside(config_path)
            return super().load_config(config_path)

    # A launcher's workers register Hydra's own once more, and compare names.
    CheckedFileSource.__name__, CheckedPackageSource.__name__ = (
        one.__name__ for one in (FileConfigSource, ImportlibResourcesConfigSource)
    )
    Plugins.instance()  # which registers Hydra's own sources
    SourcesRegistry.instance().types |= {"file": CheckedFileSource, "pkg": CheckedPackageSource}


def _stay_inside(part: str) -> None:
    """Refuse a part whose name leads out of its folder: it would be read as one of Hydra's or the program's own."""
    if ".." in Path(part).parts or Path(part).is_absolute():
        raise UserError(f"{part!r} is no name of a part; parts of your own are in a folder: --config-dir=FOLDER")


def checked(path: Path) -> str:
    """Return the text of a user's YAML file that sets settings and nothing else.

    Raises
    ------
    UserError
        If it is no YAML; for anchors, tags, interpolations, what names something to call, Hydra's own settings, deep
        nesting.
    FileError
        If it is no text of a reasonable size.
    """
    text = read_text(path, _LARGEST)
    for line in text.splitlines():
        if re.match(r"\s*#\s*@", line) and _HYDRA.search(line):
            raise UserError(f"{path}: {line.strip()!r} would change how commands are started; leave it out")
    depth = 0
    for event in _events(text, path):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        place = f"{path}, line {event.start_mark.line + 1}"
        if depth > _DEPTH:
            raise UserError(f"{place}: settings are nested no deeper than {_DEPTH}")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise UserError(f"{place}: settings are written out, without anchors (&), aliases (*) and tags (!)")
        if isinstance(event, yaml.ScalarEvent):
            _check_scalar(event.value, place)
            if _HYDRA.search(event.value):
                raise UserError(
                    f"{place}: {event.value[:60]!r} would change how commands are started; only this program's "
                    "settings can be set"
                )
    return text


def _events(text: str, path: Path) -> Iterator[yaml.Event]:
    """The pieces of a YAML text, without recursion."""
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UserError(f"{path}{line}: this is no YAML: {error.problem}") from error
    except yaml.YAMLError as error:  # a sign that no YAML has
        raise UserError(f"{path}: this is no YAML: {' '.join(str(error).split())}") from error
