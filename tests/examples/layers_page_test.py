"""Usage: layers_page_test.py PAGE PROGRAM HEADERS. The page has every module of torch.nn that
computes something, in a cell of the first column of a table: those of PyTorch 1.13 without the lazy
ones, which are named together. What takes their place stands in the second column: what the folder
HEADERS declares, or, in the table of layers that are made of others, a function of the PROGRAM."""
import pathlib
import re
import sys

MODULES = '''
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss
AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d
BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU CTCLoss
ChannelShuffle ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d
ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss
CrossMapLRN2d DataParallel Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag
FeatureAlphaDropout Flatten Fold FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell
GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss
Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LSTM
LSTMCell LayerNorm LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MSELoss
MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish
ModuleDict ModuleList MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss
MultiheadAttention NLLLoss NLLLoss2d PReLU PairwiseDistance ParameterDict ParameterList
PixelShuffle PixelUnshuffle PoissonNLLLoss RNN RNNCell RReLU ReLU ReLU6 ReflectionPad1d
ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU
Sequential SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink
Softsign SyncBatchNorm Tanh Tanhshrink Threshold Transformer TransformerDecoder
TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer TripletMarginLoss
TripletMarginWithDistanceLoss Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d
ZeroPad2d
'''.split()


def rows_of(page):
    """Yields the first two cells of each row of the tables of `page`, and the second title."""
    title = None
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split('|')[1:-1]]
        if not cells:
            title = None
        elif title is None:
            title = cells[1]
        elif set(cells[0]) != {'-'}:
            yield cells[0], cells[1], title


page_path, program, headers = sys.argv[1:]
rows = list(rows_of(pathlib.Path(page_path).read_text()))
named = {name for cell, _, _ in rows for name in re.findall(r'`(?:nn\.)?(\w+)', cell)}
missing = [module for module in MODULES if module not in named]
if missing:
    sys.exit(f'{page_path} does not name {", ".join(missing)}')


def defined(path):
    """Returns the names of the functions that a C++ program defines."""
    return set(re.findall(r'^[\w:<>]+ (\w+)\(', path.read_text(), re.M))


def declared(paths):
    """Returns the names that C++ headers declare: functions, classes and enumerators."""
    code = re.sub('//.*', '', '\n'.join(path.read_text() for path in paths))
    enumerators = ' '.join(re.findall(r'enum class [^{;]*{([^}]*)}', code))
    return set(re.findall(r'\b(\w+)\(', code) + re.findall(r'(?:class|struct) (\w+)', code) +
               re.findall(r'\w+', enumerators))


places = {'Penstock': declared(pathlib.Path(headers).glob('*.hpp')),
          'Function of the program': defined(pathlib.Path(program))}
codes = [(title, span) for first, second, title in rows if title in places
         for span in re.findall('`([^`]*)`', first if 'the same names' in second else second)]
unknown = sorted({name for title, span in codes for name in re.findall(r'[A-Za-z]\w*', span)
                  if name not in places[title]})
if len(codes) < 100 or unknown:
    sys.exit(f'{page_path} has {len(codes)} names in the second columns, expected 100 or more; '
             f'not declared: {", ".join(unknown)}')
