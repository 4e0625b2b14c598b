"""Harbor's exceptions by group, and which groups spoil a reward (B2, harbor-jobs 3.5). A table; no trial is looked at here.

The class name is all that `result.json` keeps, so the table goes by name. A name that isn't in it was raised by the agent or
by the task and spoils nothing.
"""

from typing import Literal

Group = Literal["agent", "limit", "provider", "budget", "login", "cancelled", "environment", "verifier", "other"]

GROUPS: dict[Group, tuple[str, ...]] = {
    "agent": ("AgentTimeoutError", "NonZeroAgentExitCodeError"),
    "limit": (
        "AgentSafetyRefusalError", "ContextLengthExceededError", "ContextWindowExceededError", "OutputLengthExceededError",
        "OutputTokenExceededError",
    ),
    "provider": (
        "APIConnectionError", "APIError", "APITimeoutError", "ApiConnectionClosedError", "ApiConnectionError", "ApiError",
        "ApiInternalServerError", "ApiOverloadedError", "ApiRateLimitError", "ApiResponseStalledError", "ApiUsageLimitError",
        "InternalServerError", "NetworkConnectionError", "RateLimitError", "ServiceUnavailableError", "Timeout",
        "UnknownApiError",
    ),
    "budget": ("BadRequestError", "BudgetExceededError", "UnprocessableEntityError"),
    "login": (
        "AgentAuthenticationError", "ApiKeyRejectedError", "AuthenticationError", "ModelNotFoundError", "NotAuthenticatedError",
        "NotFoundError", "PermissionDeniedError",
    ),
    "cancelled": ("CancelledError", "KeyboardInterrupt"),
    "environment": (
        "AgentSetupTimeoutError", "EnvironmentBuildTimeoutError", "EnvironmentStartTimeoutError", "HealthcheckError",
        "MemoryLimitExceededError", "SandboxBuildFailedError",
    ),
    "verifier": (
        "AddTestsDirError", "DownloadVerifierDirError", "RewardFileEmptyError", "RewardFileNotFoundError",
        "VerifierOutputParseError", "VerifierTimeoutError",
    ),
}  # fmt: skip

SPOILING: dict[Group, str] = {
    "provider": "the model's provider failed",
    "budget": "the request or the budget was refused",
    "login": "the login or the model was refused",
    "cancelled": "it was cancelled",
    "environment": "its environment failed",
}
"""Groups after which a reward says nothing about the agent, with the words for it."""

_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


def group_of(exception: str | None) -> Group | None:
    """The group of an exception's class name, with or without its module; `other` if the table doesn't have it."""
    return _GROUP_OF.get(exception.rsplit(".", 1)[-1], "other") if exception else None
