"""Hugging Face transformers as contenders: its `generate` on padded batches, and its own continuous batching."""
