from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models.llms import VENDORS, anthropic, build, openai
from memorist.models.llms.openai import SERVICES
from memorist.models.llms.remote import RemoteLLM
from memorist.ports import Completion
from memorist.testing.llm_server import AnthropicServer, OpenAIServer

USER = {"role": "user", "content": "Hello?"}
KEYS = {"openai": "OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def built(setting: str, **options: object) -> RemoteLLM:
    llm = build(setting, options=options)
    assert isinstance(llm, RemoteLLM)
    return llm


@pytest.mark.parametrize("setting", [None, "none", " None "])
def test_some_settings_mean_no_model(setting: str | None) -> None:
    assert build(setting) is None


def test_an_object_passes_through() -> None:
    class Own:
        name = "own:1"

        def complete(self, messages: object, *, schema: Mapping[str, object] | None = None) -> Completion:
            return Completion("yes")

    own = Own()
    assert build(own) is own


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_name_is_the_setting(vendor: str) -> None:
    assert (
        built(f" {vendor.upper()}:org/some-model:q8", url="http://localhost/v1").name == f"{vendor}:org/some-model:q8"
    )


def test_an_unknown_vendor_lists_the_choices() -> None:
    with pytest.raises(InvalidInput) as caught:
        build("hal:9000")
    assert all(f"{vendor}:MODEL" in caught.value.remedy for vendor in VENDORS)


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_wants_a_model(vendor: str) -> None:
    with pytest.raises(InvalidInput, match=rf"as in {vendor}:\w"):
        build(vendor, options={"url": "http://localhost/v1"})


def test_a_compatible_server_wants_an_address() -> None:
    with pytest.raises(InvalidInput, match="Give the option `url`"):
        build("openai-compatible:x")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("url", 3),
        ("key_env", ""),
        ("timeout", 0),
        ("max_tokens", 0),
        ("temperature", -0.1),
        ("temperature", 2.1),
        ("temperature", float("nan")),
        ("temperature", True),
        ("retries", -1),
        ("retries", True),
        ("concurrency", 0),
        ("dim", 3),
    ],
)
def test_an_option_of_another_kind_is_refused(option: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=option):
        build("ollama:llama3.2", options={option: value})


@pytest.mark.parametrize("vendor", KEYS)
def test_without_a_key_a_vendor_is_not_even_asked(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEYS[vendor], raising=False)
    with pytest.raises(ModelUnavailable, match=f"No key for m on .*{vendor}.*{KEYS[vendor]}"):
        built(f"{vendor}:m").complete([USER])


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_gets_its_own_key_and_no_other(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for variable in KEYS.values():
        monkeypatch.setenv(variable, f"key of {variable}")
    with AnthropicServer() if vendor == "anthropic" else OpenAIServer() as server:
        built(f"{vendor}:m", url=server.url).complete([USER])
    headers = server.requests[0].headers
    sent = headers.get("x-api-key") or (headers.get("authorization") or "").removeprefix("Bearer ")
    assert sent == (f"key of {KEYS[vendor]}" if vendor in KEYS else "")


def test_a_key_may_be_in_another_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MY_KEY", "sk-mine")
    with OpenAIServer() as server:
        built("openai-compatible:m", url=server.url, key_env="MY_KEY").complete([USER])
    assert server.requests[0].headers["authorization"] == "Bearer sk-mine"


def test_a_proxy_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with OpenAIServer(["yes"]) as server:
        assert built("openai:m", url=server.url).complete([USER]).text == "yes"


def test_local_services_are_on_this_machine() -> None:
    local = {"ollama", "vllm", "lmstudio", "llamacpp"}
    assert {name for name, row in SERVICES.items() if "//localhost:" in row.service.url} == local


def test_importing_the_adapters_loads_no_httpx() -> None:
    code = "import sys, memorist.models.llms, memorist.testing.llm_server; print('httpx' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_the_vendors_are_those_of_the_services() -> None:
    assert (*openai.SERVICES, anthropic.SERVICE.vendor) == VENDORS
