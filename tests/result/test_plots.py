import inspect

import conjoin
from conjoin.report import plots
from conjoin.result.plots import Plots


def test_every_plot_of_the_report_is_a_method_of_results():
    drawn = {name for name, _ in inspect.getmembers(plots, inspect.isfunction) if "plot_" in name}
    methods = {name for name in vars(Plots) if name.startswith("plot_")}
    assert methods
    assert methods <= drawn
    assert issubclass(conjoin.Partition, Plots)
