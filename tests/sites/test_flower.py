"""Flower for real: its simulation engine, and a SuperLink with two SuperNodes on loopback."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import conjoin
from conjoin.errors import ConjoinError
from conjoin.sites import Plan, flower
from conjoin.sites.flower import FlowerSite, respond
from conjoin.sites.receive import receive_texts
from tests.sites.clinics import clinics, export_all, largest_difference, plan_of

APP = Path(__file__).parents[2] / "examples" / "flower"
needs_flower = pytest.mark.skipif(
    find_spec("flwr") is None, reason="Flower is not installed; make package installs and tries it"
)


def write_site(folder: Path, name: str, table: dict, plan: Plan) -> dict[str, str]:
    """Write the files of a site, and return the configuration of its SuperNode."""
    place = folder / name
    place.mkdir()
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values()))]
    (place / "rows.csv").write_text("\n".join(lines))
    plan.save(place / "plan.json")
    return {"table": f"{place}/rows.csv", "name": name, "plan": f"{place}/plan.json"}


@pytest.mark.skipif(find_spec("flwr") is not None, reason="only where Flower is not installed")
def test_without_flower_a_sentence_says_what_to_install():
    with pytest.raises(ConjoinError, match=r"pip install conjoin\[flower\]"):
        flower.client_app()


def test_a_site_answers_its_own_plan_only_and_keeps_reasons_to_itself(tmp_path, capsys):
    plan = plan_of()
    config = write_site(tmp_path, "clinic_1", clinics(sites=1)["clinic_1"], plan)
    sent = respond(config, plan.checksum, FlowerSite.export)
    assert receive_texts({"clinic_1": sent["text"]}).names == ("clinic_1",)
    other = respond(config, plan_of().checksum, FlowerSite.export)
    assert other == {"site": "clinic_1", "text": "", "refused": flower.REFUSED}
    assert "another plan" in capsys.readouterr().err
    strict = respond({**config, "min-rows": 500}, plan.checksum, FlowerSite.export)
    assert not strict["text"] and "300" not in strict["refused"]
    assert "has only 300 rows" in capsys.readouterr().err
    assert not respond({"name": "a"}, "", FlowerSite.export)["text"]
    assert "lacks 'table', 'plan'" in capsys.readouterr().err


# Seconds for each step of Flower's processes: some forty do on a machine with nothing else to do.
PATIENCE = 900.0


class Net:
    """A SuperLink and SuperNodes of Flower on loopback."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.running = folder, []
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.env = {**os.environ, "PATH": path, "FLWR_HOME": str(folder / "flwr"),
                    "FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1",
                    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # fmt: skip
        self.port = free_port()
        (folder / "flwr").mkdir()
        (folder / "flwr" / "config.toml").write_text(
            '[superlink]\ndefault = "here"\n\n'
            f'[superlink.here]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n'
        )

    def start(self, *command: str, log: str) -> None:
        with (self.folder / f"{log}.log").open("w") as file:
            path = str(Path(sys.executable).parent / command[0])
            self.running.append(
                subprocess.Popen([path, *command[1:]], stdout=file, stderr=file, env=self.env,
                                 cwd=self.folder, start_new_session=True)
            )  # fmt: skip

    def start_all(self, configs: list[dict[str, str]]) -> None:
        self.start("flower-superlink", "--insecure", "--port", str(self.port),
                   "--disable-runtime-dependency-installation", log="link")  # fmt: skip
        for config in configs:
            given = " ".join(f'{key}="{value}"' for key, value in config.items())
            self.start("flower-supernode", "--insecure", "--superlink", f"127.0.0.1:{self.port}",
                       "--port", str(free_port()), "--node-config", given,
                       log=config["name"])  # fmt: skip

    def run(self, **config: str | int | float) -> str:
        """Run the app, and return its log."""
        given = " ".join(f"{key}={json.dumps(value)}" for key, value in config.items())
        flwr = str(Path(sys.executable).parent / "flwr")
        done = subprocess.run(
            [flwr, "run", str(APP), "here", "--stream", "--run-config", given],
            env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        return done.stdout + done.stderr

    def stop(self) -> None:
        for one in reversed(self.running):
            one.terminate()
        for one in self.running:
            try:
                one.wait(20)
            except subprocess.TimeoutExpired:
                one.kill()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def net(tmp_path) -> Iterator[Net]:
    found = Net(tmp_path)
    yield found
    found.stop()


def wait_for(net: Net, port: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with socket.socket() as link:
            if link.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError((net.folder / "link.log").read_text())


class InProcess:
    """Workers of Flower's simulation engine in this process, where Ray would start others."""

    def __init__(self, config: dict) -> None:
        self.num_workers = 2

    def build(self, app_fn) -> None:
        self.app = app_fn()

    def is_worker_idle(self) -> bool:
        return True

    def terminate(self) -> None:
        pass

    def process_message(self, message, context):
        return self.app(message=message, context=context), context


@needs_flower
def test_flowers_simulation_decides_what_rounds_in_a_folder_decide(quick, tmp_path, monkeypatch):
    from flwr.simulation import run_simulation

    tables, plan = clinics("logistic", sites=3, rows=300), plan_of("logistic", folds=2)
    configs = [write_site(tmp_path, name, table, plan) for name, table in tables.items()]
    backend = "flwr.server.superlink.fleet.vce.backend.raybackend"
    monkeypatch.setitem(sys.modules, backend, SimpleNamespace(RayBackend=InProcess))
    found = {}

    def decide(study):
        found["result"] = conjoin.partition(study)
        found["result"].ledger()  # asks more rounds, while the sites are there
        return found["result"]

    server = flower.server_app(decide, {"plan": f"{tmp_path}/clinic_1/plan.json", "sites": 3})
    client = flower.client_app(lambda config: configs[int(config["partition-id"])])
    run_simulation(server, client, num_supernodes=3, backend_name="in this process")
    (tmp_path / "share").mkdir()
    files = export_all(tables, plan, tmp_path / "share")
    quick(tables, plan, tmp_path / "share")
    assert largest_difference(found["result"], conjoin.partition(files)) < 1e-12


@needs_flower
@pytest.mark.slow
@pytest.mark.skipif(
    "CONJOIN_FLOWER_NET" not in os.environ,
    reason="set CONJOIN_FLOWER_NET to start Flower's processes, as `make package` does",
)
def test_superlink_and_supernodes_decide_what_files_decide(net, tmp_path):
    tables, plan = clinics(sites=2), plan_of()
    configs = [write_site(tmp_path, name, table, plan) for name, table in tables.items()]
    net.start_all(configs)
    wait_for(net, net.port)
    (tmp_path / "files").mkdir()
    files = export_all(tables, plan, tmp_path / "files")
    save = tmp_path / "found.json"
    log = net.run(plan=configs[0]["plan"], sites=2, wait=PATIENCE, save=str(save))
    assert save.exists(), log
    assert largest_difference(conjoin.load(save), conjoin.partition(files)) < 1e-12
