"""transformers: twenty-five models for text, images, sound and series, forward and backward."""

import warnings

import torch

warnings.simplefilter("ignore")
from transformers import *

torch.manual_seed(0)
kw = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)


def go(n, m, k, key="loss", train=True):
    torch.manual_seed(1)
    try:
        m.train() if train else m.eval()
        o = m(**k)
        l = getattr(o, key)
        l = l if l.dim() == 0 else l.pow(2).mean()
        l.backward()
        print(n, l.item(), sum(p.grad.norm() for p in m.parameters() if p.grad is not None).item())
    except Exception as e:
        print(n, "raises", type(e).__name__, str(e)[:90])


ids = torch.randint(3, 60, (2, 9))
am = torch.ones_like(ids)
am[0, 6:] = 0
go(
    "bertcls",
    BertForSequenceClassification(BertConfig(vocab_size=60, num_labels=3, **kw)),
    dict(input_ids=ids, attention_mask=am, labels=torch.tensor([0, 2])),
)
go("bertmlm", BertForMaskedLM(BertConfig(vocab_size=60, **kw)), dict(input_ids=ids, labels=ids))
go(
    "bertqa",
    BertForQuestionAnswering(BertConfig(vocab_size=60, **kw)),
    dict(input_ids=ids, start_positions=torch.tensor([1, 2]), end_positions=torch.tensor([3, 4])),
)
go(
    "tok",
    DistilBertForTokenClassification(DistilBertConfig(vocab_size=60, dim=32, n_layers=2, n_heads=4, hidden_dim=48)),
    dict(input_ids=ids, attention_mask=am, labels=torch.randint(2, (2, 9))),
)
go(
    "roberta",
    RobertaForMaskedLM(RobertaConfig(vocab_size=60, max_position_embeddings=30, **kw)),
    dict(input_ids=ids, labels=ids),
)
go("albert", AlbertForMaskedLM(AlbertConfig(vocab_size=60, embedding_size=16, **kw)), dict(input_ids=ids, labels=ids))
go(
    "electra",
    ElectraForPreTraining(ElectraConfig(vocab_size=60, embedding_size=16, **kw)),
    dict(input_ids=ids, labels=torch.randint(2, (2, 9))),
)
go(
    "deberta",
    DebertaV2ForSequenceClassification(
        DebertaV2Config(vocab_size=60, relative_attention=True, pos_att_type="p2c|c2p", **kw)
    ),
    dict(input_ids=ids, attention_mask=am, labels=torch.tensor([0, 1])),
)
img = torch.randn(2, 3, 32, 32)
go(
    "vit",
    ViTForImageClassification(ViTConfig(image_size=32, patch_size=8, num_labels=3, **kw)),
    dict(pixel_values=img, labels=torch.tensor([0, 2])),
)
go(
    "deit",
    DeiTForImageClassification(DeiTConfig(image_size=32, patch_size=8, num_labels=3, **kw)),
    dict(pixel_values=img, labels=torch.tensor([0, 2])),
)
go(
    "beit",
    BeitForImageClassification(BeitConfig(image_size=32, patch_size=8, num_labels=3, **kw)),
    dict(pixel_values=img, labels=torch.tensor([0, 2])),
)
go(
    "swin",
    SwinForImageClassification(
        SwinConfig(
            image_size=32, patch_size=2, embed_dim=12, depths=[1, 1], num_heads=[2, 2], window_size=4, num_labels=3
        )
    ),
    dict(pixel_values=img, labels=torch.tensor([0, 2])),
)
go(
    "resnet",
    ResNetForImageClassification(
        ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=3)
    ),
    dict(pixel_values=img, labels=torch.tensor([0, 2])),
)
go(
    "convnext",
    ConvNextForImageClassification(ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, num_labels=3)),
    dict(pixel_values=img, labels=torch.tensor([0, 2])),
)
go(
    "seg",
    SegformerForSemanticSegmentation(
        SegformerConfig(
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[2, 1],
            hidden_sizes=[8, 16],
            patch_sizes=[7, 3],
            strides=[4, 2],
            num_attention_heads=[1, 2],
            mlp_ratios=[2, 2],
            decoder_hidden_size=16,
            num_labels=3,
        )
    ),
    dict(pixel_values=img, labels=torch.randint(3, (2, 32, 32))),
)
go(
    "clip",
    CLIPModel(
        CLIPConfig(
            text_config=dict(vocab_size=60, max_position_embeddings=12, eos_token_id=2, **kw),
            vision_config=dict(image_size=32, patch_size=8, **kw),
            projection_dim=16,
        )
    ),
    dict(input_ids=ids, pixel_values=img, attention_mask=am, return_loss=True),
)
t5 = T5ForConditionalGeneration(
    T5Config(vocab_size=60, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0)
)
go("t5", t5, dict(input_ids=ids, attention_mask=am, labels=ids))
t5.eval()
print(t5.generate(ids, max_new_tokens=6, num_beams=3, length_penalty=0.8, early_stopping=True).tolist())
bart = BartForConditionalGeneration(
    BartConfig(
        vocab_size=60,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=32,
    )
)
go("bart", bart, dict(input_ids=ids, labels=ids))
bart.eval()
print(bart.generate(ids, max_new_tokens=5, num_beams=2).tolist())
wh = WhisperForConditionalGeneration(
    WhisperConfig(
        vocab_size=60,
        num_mel_bins=8,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=20,
        max_target_positions=20,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
)
f = torch.randn(2, 8, 40)
go("whisper", wh, dict(input_features=f, labels=ids))
wh.eval()
try:
    print(wh.generate(f, max_new_tokens=5).tolist())
except Exception as e:
    print("wgen", type(e).__name__, str(e)[:60])
w2 = Wav2Vec2ForCTC(
    Wav2Vec2Config(
        vocab_size=20,
        conv_dim=(16, 16),
        conv_stride=(5, 2),
        conv_kernel=(10, 3),
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=4,
        mask_time_prob=0.0,
        layerdrop=0.0,
        **kw,
    )
)
go("w2v", w2, dict(input_values=torch.randn(2, 400), labels=torch.randint(1, 20, (2, 5))))
go(
    "led",
    EncoderDecoderModel(
        EncoderDecoderConfig.from_encoder_decoder_configs(
            BertConfig(vocab_size=60, **kw), BertConfig(vocab_size=60, **kw), decoder_start_token_id=1, pad_token_id=0
        )
    ),
    dict(input_ids=ids, labels=ids),
)
go(
    "mamba",
    MambaForCausalLM(MambaConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, state_size=4)),
    dict(input_ids=ids, labels=ids),
)
go(
    "rwkv",
    RwkvForCausalLM(RwkvConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, attention_hidden_size=32))
    if "RwkvForCausalLM" in globals()
    else torch.nn.Linear(1, 1),
    dict(input_ids=ids, labels=ids),
)
go(
    "tst",
    TimeSeriesTransformerForPrediction(
        TimeSeriesTransformerConfig(
            prediction_length=4,
            context_length=8,
            lags_sequence=[1, 2],
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            num_time_features=1,
        )
    ),
    dict(
        past_values=torch.rand(2, 10),
        past_time_features=torch.rand(2, 10, 1),
        past_observed_mask=torch.ones(2, 10),
        future_values=torch.rand(2, 4),
        future_time_features=torch.rand(2, 4, 1),
    ),
)
