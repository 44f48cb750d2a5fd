import pytest
from hypothesis import HealthCheck, settings

# What they assert is shown in full, as in the tests themselves.
pytest.register_assert_rewrite("laws", "online.problems", "online.tasks", "online.paths")

# Derandomised, so that a red build is red for everyone; laws that run over the whole catalogue share the examples out.
settings.register_profile(
    "gossamer",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("gossamer")
