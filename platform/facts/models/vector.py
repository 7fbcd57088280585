"""Vectors for the day on which a tenant changes its embedding model."""

from django.db import models
from tenants.models import Tenant
from tenants.scope import TenantManager

from facts.models.fact import Fact


class ComingVector(models.Model):
    """A fact's vector by another model than the one whose vectors are compared now; of the text of `fact_hash`."""

    fact = models.OneToOneField(Fact, on_delete=models.CASCADE, primary_key=True, related_name="coming_vector")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="coming_vectors")
    embedding = models.BinaryField(help_text="float32, little-endian, unit norm")
    embedding_model = models.CharField(max_length=255)
    fact_hash = models.CharField(max_length=64)

    objects = TenantManager()

    def __str__(self) -> str:
        return f"{self.fact_id} by {self.embedding_model}"
