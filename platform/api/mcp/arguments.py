"""What the tools take. Descriptions are for the model that chooses the arguments."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

NAMES = ("user_id", "agent_id", "app_id", "run_id")


class Arguments(BaseModel):
    """An unknown argument is an error: a misspelt name must not be read as none."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    pass


class Named(Arguments):
    user_id: str | None = Field(None, description="Id of the user whose memory it is")
    agent_id: str | None = Field(None, description="Id of the agent whose memory it is")
    app_id: str | None = Field(None, description="Id of the application whose memory it is")
    run_id: str | None = Field(None, description="Id of the session to which the memory is confined")

    @property
    def names(self) -> dict[str, str]:
        """Those that are given."""
        return {name: value for name in NAMES if (value := getattr(self, name)) is not None}


class Filtered(Named):
    filters: dict[str, Any] | None = Field(
        None,
        description=(
            'Further conditions, such as {"categories": {"in": ["travel"]}} or {"AND": [...]}, {"OR": [...]},'
            ' {"NOT": [...]} of conditions on created_at, updated_at, timestamp, expiration_date, text, keywords,'
            " categories, metadata, memory_ids"
        ),
    )

    @property
    def condition(self) -> dict[str, Any]:
        conditions = [{name: value} for name, value in self.names.items()]
        conditions += [self.filters] if self.filters else []
        return {"AND": conditions} if conditions else {}


class Add(Named):
    text: str = Field(description="What to remember, in sentences that can be understood alone")
    infer: bool = Field(
        True,
        description=(
            "true: facts are found in the text by a job, and memory is kept free of repetitions and contradictions;"
            " false: the text is stored at once as it is"
        ),
    )
    metadata: dict[str, Any] | None = Field(None, description="Anything to keep with the memory; can be filtered by")
    expiration_date: str | None = Field(None, description="YYYY-MM-DD: the last day on which it counts")


class Search(Filtered):
    query: str = Field(description="What to look for, in natural language")
    top_k: int = Field(10, ge=1, le=1000, description="Memories to return at most")
    threshold: float = Field(0.1, ge=0, le=1, description="Similarity that a memory needs at least")


class Page(Filtered):
    page: int = Field(1, ge=1)
    page_size: int = Field(50, ge=1, le=200)


class Memory(Arguments):
    memory_id: UUID = Field(description="Of the memory, as search_memories and get_memories give it")


class Update(Memory):
    text: str = Field(description="What the memory says from now on")
    metadata: dict[str, Any] | None = Field(None, description="Takes the place of what there is; null leaves it")


class EventOf(Arguments):
    event_id: UUID = Field(description="Of the event, as add_memory gives it")
