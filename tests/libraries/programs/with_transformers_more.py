"""transformers: a dozen architectures, schedules, sampling, checkpoints, saving and loading."""

import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForQuestionAnswering,
    CLIPConfig,
    CLIPModel,
    CLIPTextConfig,
    CLIPVisionConfig,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ElectraConfig,
    ElectraForPreTraining,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    RobertaConfig,
    RobertaForTokenClassification,
    ViTConfig,
    ViTForImageClassification,
    get_linear_schedule_with_warmup,
)

torch.manual_seed(0)
ids = torch.randint(5, 60, (3, 12))
am = torch.ones_like(ids)
am[1, 9:] = 0


def tr(m, **b):
    m.train()
    o = torch.optim.AdamW(m.parameters(), lr=2e-3)
    s = get_linear_schedule_with_warmup(o, 1, 5)
    for i in range(3):
        out = m(**b)
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        o.step()
        s.step()
        o.zero_grad()
        print(type(m).__name__, out.loss.item(), s.get_last_lr()[0])
    return m.eval()


sm = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
tr(
    DistilBertForMaskedLM(DistilBertConfig(vocab_size=64, dim=32, n_layers=2, n_heads=4, hidden_dim=48)),
    input_ids=ids,
    attention_mask=am,
    labels=ids,
)
tr(
    RobertaForTokenClassification(RobertaConfig(**sm, num_labels=5, pad_token_id=1)),
    input_ids=ids,
    attention_mask=am,
    labels=ids % 5,
)
tr(
    BertForQuestionAnswering(BertConfig(**sm)),
    input_ids=ids,
    attention_mask=am,
    start_positions=torch.tensor([1, 2, 3]),
    end_positions=torch.tensor([3, 4, 5]),
)
tr(
    ViTForImageClassification(
        ViTConfig(
            image_size=16,
            patch_size=4,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=48,
            num_labels=4,
        )
    ),
    pixel_values=torch.randn(3, 3, 16, 16),
    labels=torch.tensor([0, 1, 2]),
)
b = tr(
    BartForConditionalGeneration(
        BartConfig(
            vocab_size=64,
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
            max_position_embeddings=32,
            pad_token_id=1,
            bos_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=2,
            forced_eos_token_id=2,
        )
    ),
    input_ids=ids,
    attention_mask=am,
    labels=ids,
)
print(b.generate(ids, max_new_tokens=6, num_beams=3, early_stopping=True, no_repeat_ngram_size=2).tolist())
for C, M in ((MistralConfig, MistralForCausalLM), (Qwen2Config, Qwen2ForCausalLM)):
    m = tr(
        M(
            C(
                **sm,
                num_key_value_heads=2,
                max_position_embeddings=32,
                sliding_window=8,
                bos_token_id=1,
                eos_token_id=2,
                pad_token_id=0,
            )
        ),
        input_ids=ids,
        attention_mask=am,
        labels=ids,
    )
    print(m.generate(ids[:, :5], max_new_tokens=5, do_sample=False).tolist())
    torch.manual_seed(1)
    print(
        m.generate(
            ids[:1, :5],
            max_new_tokens=5,
            do_sample=True,
            top_p=0.9,
            temperature=0.7,
            repetition_penalty=1.2,
            num_return_sequences=2,
        ).tolist()
    )
o = tr(
    OPTForCausalLM(
        OPTConfig(
            vocab_size=64,
            hidden_size=32,
            num_hidden_layers=2,
            ffn_dim=48,
            num_attention_heads=4,
            max_position_embeddings=32,
            word_embed_proj_dim=32,
            pad_token_id=1,
        )
    ),
    input_ids=ids,
    attention_mask=am,
    labels=ids,
)
tr(GPTNeoXForCausalLM(GPTNeoXConfig(**sm, max_position_embeddings=32)), input_ids=ids, labels=ids)
c = CLIPModel(
    CLIPConfig(
        text_config=CLIPTextConfig(
            vocab_size=64,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=1,
            num_attention_heads=4,
            max_position_embeddings=16,
            eos_token_id=2,
        ).to_dict(),
        vision_config=CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=1,
            num_attention_heads=4,
            image_size=16,
            patch_size=8,
        ).to_dict(),
        projection_dim=16,
    )
)
out = c(input_ids=ids, pixel_values=torch.randn(3, 3, 16, 16), attention_mask=am, return_loss=True)
out.loss.backward()
print(
    out.loss.item(),
    out.logits_per_image.sum().item(),
    sum(p.grad.norm().item() for p in c.parameters() if p.grad is not None),
)
a = AlbertModel(
    AlbertConfig(
        vocab_size=64,
        hidden_size=32,
        embedding_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
    )
).eval()
r = a(ids, attention_mask=am, output_hidden_states=True)
print(r.last_hidden_state.norm().item(), len(r.hidden_states))
e = ElectraForPreTraining(ElectraConfig(**sm, embedding_size=16))
l = e(ids, labels=(ids % 2)).loss
l.backward()
print(l.item())
e2 = BertForQuestionAnswering(BertConfig(**sm, attn_implementation="eager")).eval()
r = e2(ids, attention_mask=am, output_attentions=True)
print(r.attentions[0].sum().item())
m.gradient_checkpointing_enable()
m.train()
l = m(input_ids=ids, labels=ids).loss
l.backward()
print(l.item())
import tempfile

d = tempfile.mkdtemp()
o.save_pretrained(d)
o2 = OPTForCausalLM.from_pretrained(d)
print((o2(ids).logits - o(ids).logits).abs().max().item() < 1e-5, sum(p.numel() for p in o2.parameters()))
o.resize_token_embeddings(70)
print(o.get_input_embeddings().weight.shape)
