"""The sets of local models, and folders with an ONNX model: manifest, files and graph."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, cast, get_type_hints

from memorist.errors import InvalidInput, ModelUnavailable, Remedy, VerbCall
from memorist.validate import validate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from memorist.ports import Vector


TELEMETRY_OFF = "ORT_DISABLE_TELEMETRY"
_importing = Lock()


def onnx_runtime() -> Any:  # mostly untyped
    """ONNX Runtime without its telemetry: no device id in the user's cache, no upload, no look-up of a host.

    The library reads the variable once, when it is loaded, so the caller's environment is as before afterwards. Where
    other code loaded the library first, only the events about our models can still be switched off.
    """
    with _importing:
        before = os.environ.get(TELEMETRY_OFF)
        os.environ[TELEMETRY_OFF] = "1"
        try:
            import onnxruntime
        finally:
            if before is None:
                del os.environ[TELEMETRY_OFF]
            else:
                os.environ[TELEMETRY_OFF] = before
        runtime: Any = onnxruntime
        runtime.disable_telemetry_events()
        return runtime


class OnnxGraph:
    """A loaded ONNX file. Each run uses one thread; thread-safe.

    Several texts at once on one core each are faster than one text on several cores, and spinning threads would take
    cores from the others. The file stays mapped, so it may be replaced but not written over while a process runs.
    """

    def __init__(self, file: Path) -> None:
        from memorist.models.weights import without_weights

        runtime = onnx_runtime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        place = file.resolve()  # weights that lie elsewhere are looked for beside the file itself
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(place.parent))
        model = without_weights(_mapped(place), place.name) or place
        self._session: Any = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.inputs: tuple[str, ...] = tuple(value.name for value in self._session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(output.name for output in self._session.get_outputs())

    def run(self, output: str, inputs: Mapping[str, NDArray[np.int64]]) -> Vector:
        """One output for the inputs that the graph accepts."""
        return self.run_all((output,), inputs)[0]

    def run_all(self, outputs: Sequence[str], inputs: Mapping[str, NDArray[np.generic]]) -> Sequence[Vector]:
        """Several outputs at the cost of one."""
        return self._session.run(list(outputs), {name: inputs[name] for name in self.inputs})


MODEL, TOKENIZER, MANIFEST = "model.onnx", "tokenizer.json", "model.json"
END = "end.onnx"
"""The second part of a model in two: it reads the outputs of the first, whatever lengths they come from."""
LISTS = "lists.onnx"
"""A graph that reads several texts together."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
LIST_INPUTS = ("input_ids", "token_type_ids", "ends", "means")
CHARACTERS_PER_TOKEN = 20
"""English has about five characters per token. Four times as many keep every token that counts, at a bounded cost."""
Kind = Literal["embedder", "reranker"]
_tokenizers: dict[tuple[str, int], Tokenizer] = {}
"""Tokenizers that were read, by their checksum and the length at which they truncate."""
_tokenizers_lock = Lock()
REINSTALL = "Fetch the folder again; for the packaged models, reinstall memorist-models."


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """The description of a model, read before the model is loaded.

    `tokens_per_batch` is the maximum number of tokens per batch. 0, the default, runs one text at a time, because in a
    model quantised per tensor the other texts of a batch change a text's vector.
    """

    name: str
    kind: Kind = "embedder"
    dim: int | None = None
    max_tokens: int = 256
    tokens_per_batch: int = 0
    outputs: Mapping[str, str] = field(default_factory=dict[str, str])
    sha256: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        least = {"dim": 1, "max_tokens": 3, "tokens_per_batch": 0}
        for name, minimum in least.items():
            if (value := getattr(self, name)) is not None and value < minimum:
                raise ValueError(f"{name} is less than {minimum}")
        if not all((self.name, *self.outputs.values(), *self.sha256.values())):
            raise ValueError("a name, output or checksum is empty")


class ModelFolder:
    """The files of a model, checked against the manifest when they are loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in (MODEL, TOKENIZER):
            if not (path / name).is_file():
                raise ModelUnavailable(
                    f"There is no {name} in {path}",
                    remedy=f"Name a folder that holds {MODEL} and {TOKENIZER}, or use the embedder 'local'.",
                )
        self.manifest = _read_manifest(path)

    @cached_property
    def checksum(self) -> str:
        """The sha256 of the model file: from the manifest, else computed once."""
        return self.manifest.sha256.get(MODEL) or _sha256(self.path / MODEL)

    def open_graph(self) -> OnnxGraph:
        """The model, ready to run on `INPUTS`."""
        return self._open(MODEL, INPUTS)

    def open_end(self, graph: OnnxGraph) -> OnnxGraph | None:
        """The second part of the model, ready to run on the outputs of the first; None for a model in one part."""
        return self._open(END, graph.outputs) if (self.path / END).is_file() else None

    def open_lists(self) -> OnnxGraph | None:
        """The graph that reads several texts together; None for a model without one."""
        return self._open(LISTS, LIST_INPUTS) if (self.path / LISTS).is_file() else None

    def _open(self, name: str, given: Sequence[str]) -> OnnxGraph:
        self._verify(name)
        try:
            graph = OnnxGraph(self.path / name)
        except Exception as error:  # the exceptions of ONNX Runtime have no public base class
            raise self.unusable(f"{name} cannot be loaded: {error}") from error
        if unknown := sorted(set(graph.inputs) - set(given)):
            raise self.unusable(f"it wants the input {unknown[0]}, we give {', '.join(given)}")
        return graph

    def open_tokenizer(self) -> Tokenizer:
        """The tokenizer; it truncates at the model's maximum length and never pads.

        Models with the same tokenizer share it: reading it takes as long as reading a model.
        """
        self._verify(TOKENIZER)
        checksum = self.manifest.sha256.get(TOKENIZER)
        if checksum is None:
            return self._read_tokenizer()
        same = checksum, self.manifest.max_tokens
        with _tokenizers_lock:
            if same not in _tokenizers:
                _tokenizers[same] = self._read_tokenizer()
            return _tokenizers[same]

    def _read_tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.path / TOKENIZER))
        except Exception as error:  # tokenizers raises Exception itself
            raise self.unusable(f"{TOKENIZER} cannot be read: {error}") from error
        tokenizer.no_padding()
        cast("Any", tokenizer).enable_truncation(self.manifest.max_tokens)  # untyped keywords
        tokenizer.encode_special_tokens = True  # treat [SEP] in a text as text
        return tokenizer

    def cut(self, text: str) -> str:
        """The beginning of a text, long enough for every token that counts, as valid Unicode."""
        beginning = text[: self.manifest.max_tokens * CHARACTERS_PER_TOKEN]
        # Joins surrogate pairs, and replaces lone surrogates.
        return beginning.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def unusable(self, problem: str) -> ModelUnavailable:
        """The error for a folder with a model that we cannot run."""
        return ModelUnavailable(f"The model in {self.path} is unusable: {problem}", remedy=REINSTALL)

    def _verify(self, name: str) -> None:
        expected = self.manifest.sha256.get(name)
        if expected is not None and _sha256(self.path / name) != expected:
            raise self.unusable(f"{name} differs from the checksum in {MANIFEST}")


def kind_of(path: Path) -> Kind:
    """The kind of the model in a folder; `embedder` if the manifest cannot be read."""
    try:
        return _read_manifest(path).kind
    except ModelUnavailable:
        return "embedder"


def _sha256(path: Path) -> str:
    return hashlib.sha256(_mapped(path)).hexdigest()  # in one call, so that other threads run meanwhile


def _mapped(path: Path) -> memoryview:
    """The bytes of a file, without reading them."""
    with path.open("rb") as file:
        empty = not os.fstat(file.fileno()).st_size  # which cannot be mapped
        return memoryview(b"" if empty else mmap(file.fileno(), 0, access=ACCESS_READ))


def _read_manifest(path: Path) -> ModelManifest:
    file = path / MANIFEST
    name = path.resolve().name
    if not file.is_file():
        return ModelManifest(name)
    try:
        data: object = json.loads(file.read_text(encoding="utf-8"))
        return _manifest(data, name)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"{file} is not a valid model manifest: {error}", remedy=REINSTALL) from error


def _manifest(data: object, default_name: str) -> ModelManifest:
    """The manifest that JSON data describes; unknown keys are ignored."""
    hints = get_type_hints(ModelManifest)
    table: dict[str, Any] = validate(data, Mapping[str, Any], MANIFEST)
    given: dict[str, Any] = {key: validate(value, hints[key], key) for key, value in table.items() if key in hints}
    given.setdefault("name", default_name)
    return ModelManifest(**given)


@dataclass(frozen=True, slots=True)
class ModelSet:
    """Local models that are chosen together by the setting `models`, and the package to install for them."""

    package: str
    embedder: str
    reranker: str

    def named(self, kind: Kind) -> str:
        """The name of its model of a kind."""
        return self.embedder if kind == "embedder" else self.reranker


_FAST = ModelSet("memorist-models", "memorist-embed-3", "memorist-rerank-4")
SETS: Mapping[str, ModelSet] = {
    "fast": _FAST,
    "best": ModelSet("memorist-models-best", "memorist-embed-3-best", "memorist-rerank-4-best"),
    "multilingual": ModelSet("memorist-models-multilingual", "memorist-embed-2-multilingual", _FAST.reranker),
}
"""Which models belong to which set: the one place that names them."""
DEFAULT_SET = "fast"


def of_set(models: str, kind: Kind) -> Path:
    """The folder of a set's model of this kind."""
    if models not in SETS:
        raise InvalidInput(f"There are no local models {models!r}", remedy=f"Choose one of {', '.join(SETS)}.")
    return packaged_folder(SETS[models].named(kind), kind)


def packaged_folder(name: str, kind: Kind) -> Path:
    """The folder of a packaged model of this kind."""
    found = _folders().get(name)
    if found is not None and kind_of(found) == kind:
        return found
    choices = sorted(packages(kind))
    install = how_to_install(name if choices else SETS[DEFAULT_SET].named(kind))
    if found is None and install is not None:
        raise ModelUnavailable(f"The local model {name!r} is not installed", remedy=install)
    again = (" Where it made the vectors, run ", VerbCall("reembed"), ".") if kind == "embedder" else ()
    choose = f"Choose one of {', '.join(choices)}, or local for that of the setting models."
    raise InvalidInput(f"There is no local {kind} {name!r}", remedy=Remedy(choose, *again))


def packages(kind: Kind) -> dict[str, Path]:
    """The folders of all packaged models of this kind, by name."""
    return {name: folder for name, folder in _folders().items() if kind_of(folder) == kind}


def how_to_install(name: str) -> str | None:
    """How to install a model that one of the sets has; None for any other."""
    package = next(
        (chosen_set.package for chosen_set in SETS.values() if name in (chosen_set.embedder, chosen_set.reranker)), None
    )
    # No package index has it, and a stranger's package could take the bare name.
    return package and f"Install it from a clone of Memorist: pip install ./packages/{package}."


def _folders() -> dict[str, Path]:
    """The folders of the models in those of our packages that are installed, by name."""
    found = (find_spec(chosen_set.package.replace("-", "_")) for chosen_set in SETS.values())
    roots = [Path(root) for spec in found if spec is not None for root in spec.submodule_search_locations or ()]
    return {file.parent.name: file.parent for root in roots for file in sorted(root.glob(f"*/{MODEL}"))}
