"""Inline PTX as calls of C++ functions, one instruction at a time: those that kernels here have a use for."""
import re


class NotEmulated(Exception):
    pass


TYPES = {'b8': 'uint8_t', 'u8': 'uint8_t', 's8': 'int8_t', 'b16': 'uint16_t', 'u16': 'uint16_t', 's16': 'int16_t',
         'b32': 'uint32_t', 'u32': 'uint32_t', 's32': 'int32_t', 'f32': 'float', 'b64': 'uint64_t', 'u64': 'uint64_t',
         's64': 'int64_t', 'f64': 'double'}

# One result of up to three operands; T is the instruction's type.
SIMPLE = {
    'add': 'a + b', 'sub': 'a - b', 'mul.lo': 'a * b', 'mul': 'a * b', 'mul.rn': 'a * b', 'and': 'a & b', 'or': 'a | b',
    'xor': 'a ^ b', 'not': '~a', 'neg': '-a', 'mad.lo': 'a * b + c', 'min': 'a < b ? a : b', 'max': 'a > b ? a : b',
    'add.rn': '::emulate::exactly(a + b)', 'fma.rn': '::std::fma(a, b, c)', 'ex2.approx': '::std::exp2(a)',
    'ex2.approx.ftz': '::std::exp2(a)', 'lg2.approx': '::std::log2(a)', 'lg2.approx.ftz': '::std::log2(a)',
    'rcp.approx': '1 / a', 'rcp.approx.ftz': '1 / a', 'rcp.rn': '1 / a', 'rsqrt.approx': '1 / ::std::sqrt(a)',
    'rsqrt.approx.ftz': '1 / ::std::sqrt(a)', 'sqrt.approx': '::std::sqrt(a)', 'sqrt.approx.ftz': '::std::sqrt(a)',
    'sin.approx': '::std::sin(a)', 'cos.approx': '::std::cos(a)', 'tanh.approx': '::std::tanh(a)', 'div.approx': 'a / b',
    'div.full': 'a / b', 'mov': 'a', 'abs': 'a < 0 ? -a : a', 'popc': '__builtin_popcountll(a)',
    'shl': 'c_ >= 8 * sizeof(a) ? 0 : a << c_', 'shr': 'a >> (c_ >= 8 * sizeof(a) ? 8 * sizeof(a) - 1 : c_)',
}
ATOMICS = {'add': 'atomicAdd', 'min': 'atomicMin', 'max': 'atomicMax', 'and': 'atomicAnd', 'or': 'atomicOr',
           'xor': 'atomicXor', 'exch': 'atomicExch', 'cas': 'atomicCAS'}
ATOMIC_TYPES = {'u32': 'unsigned', 'b32': 'unsigned', 's32': 'int', 'u64': 'unsigned long long',
                'b64': 'unsigned long long', 's64': 'long long', 'f32': 'float', 'f64': 'double'}
REGISTERS = {'laneid': '::emulate::lane()', 'warpid': '::emulate::warp()', 'smid': '::emulate::processor()',
             'nsmid': '::emulate::processors()', 'clock': '(unsigned)clock64()', 'clock64': 'clock64()',
             'globaltimer': '__globaltimer()', 'lanemask_lt': '((1u << ::emulate::lane()) - 1)',
             'lanemask_le': '((2u << ::emulate::lane()) - 1)', 'lanemask_gt': '(~0u << ::emulate::lane() << 1)',
             'lanemask_ge': '(~0u << ::emulate::lane())', 'lanemask_eq': '(1u << ::emulate::lane())',
             'tid.x': 'threadIdx.x', 'ctaid.x': 'blockIdx.x', 'cluster_ctarank': '::emulate::cluster_rank()',
             'cluster_nctarank': '::emulate::cluster_size()', 'dynamic_smem_size': '(unsigned)::emulate::dynamic_shared_bytes()'}


def split(text, code, separator):
    parts, depth, last = [], 0, 0
    for i, c in enumerate(code):
        if c in '([{':
            depth += 1
        elif c in ')]}':
            depth -= 1
        elif c == separator and depth == 0:
            parts.append((text[last:i], code[last:i]))
            last = i + 1
    parts.append((text[last:], code[last:]))
    return parts


def operand_expressions(text, code):
    found = []
    for part, blank in split(text, code, ','):
        match = re.match(r'\s*(?:\[\w+\]\s*)?"\s*([=+]?)([^"]*)"\s*\(', part)
        if match:
            expression = part[match.end():part.rindex(')')].strip()
            found.append((match.group(1), expression))
    return found


def translate(text, code):
    """The C++ statements for what stands between the brackets of asm(...)."""
    sections = split(text, code, ':')
    template = ''.join(eval('"%s"' % s.replace('\n', '')) for s in re.findall(r'"((?:\\.|[^"\\])*)"', sections[0][0], re.S))
    operands = []
    for part in sections[1:3]:
        operands += operand_expressions(*part)
    body = re.sub(r'//[^\n]*|/\*.*?\*/', ' ', template, flags=re.S).strip()
    if body.startswith('{') and body.endswith('}') and ';' in body:
        body = body[1:-1]
    registers, statements = {}, []
    for instruction in body.split(';'):
        instruction = ' '.join(instruction.split())
        if not instruction:
            continue
        declared = re.match(r'\.reg \.(\w+) (.*)', instruction)
        if declared:
            for name in declared.group(2).split(','):
                name = name.strip()
                registers[name] = 'ptx_' + re.sub(r'\W', '_', name)
                kind = 'bool' if declared.group(1) == 'pred' else TYPES[declared.group(1)]
                statements.append('%s %s' % (kind, registers[name]))
            continue
        statements.append(one(instruction, operands, registers))
    return '{ ' + ' '.join(s + ';' for s in statements) + ' }'


def value(text, operands, registers):
    text = text.strip()
    special = re.match(r'%%?([a-z_][\w.]*)$', text)
    if re.match(r'%\d+$', text):
        return '(%s)' % operands[int(text[1:])][1]
    if text in registers:
        return registers[text]
    if special and special.group(1) in REGISTERS:
        return REGISTERS[special.group(1)]
    if re.match(r'-?(0x[0-9a-fA-F]+|\d+)U?$', text):
        return text.rstrip('U')
    if re.match(r'0[fF][0-9a-fA-F]{8}$', text):
        return '__uint_as_float(0x%s)' % text[2:]
    raise NotEmulated('inline PTX: the operand "%s"' % text)


def address(text, operands, registers, shared):
    inner = re.match(r'\[\s*(.*?)\s*(?:\+\s*(-?\w+)\s*)?\]$', text.strip())
    if not inner:
        raise NotEmulated('inline PTX: the address "%s"' % text)
    base = value(inner.group(1), operands, registers)
    return '::emulate::%s(%s%s)' % ('from_shared' if shared else 'from_global', base,
                                    ' + %s' % inner.group(2) if inner.group(2) else '')


def one(instruction, operands, registers):
    guard = ''
    predicate = re.match(r'@(!?)(%?\w+) (.*)', instruction)
    if predicate:
        guard = 'if (%s%s) ' % (predicate.group(1), value(predicate.group(2), operands, registers))
        instruction = predicate.group(3)
    op, _, rest = instruction.partition(' ')
    args = [a.strip() for a, _ in split(rest, rest, ',')] if rest else []
    parts = op.split('.')
    kind = parts[-1]
    shared = any(p.startswith('shared') for p in parts)
    val = lambda i: value(args[i], operands, registers)
    addr = lambda i, s=None: address(args[i], operands, registers, shared if s is None else s)
    ref = lambda text: value(text, operands, registers)

    if op.startswith('cp.async.bulk.commit_group') or op.startswith('cp.async.bulk.wait_group'):
        return guard + '(void)0'
    if op == 'cp.async.commit_group':
        return guard + '::emulate::async_commit()'
    if op == 'cp.async.wait_group':
        return guard + '::emulate::async_wait(%s)' % val(0)
    if op == 'cp.async.wait_all':
        return guard + '::emulate::async_wait(0)'
    if re.match(r'cp\.async\.(ca|cg)\.shared', op):
        size = val(3) if len(args) > 3 and not args[3].startswith('%l') else val(2)
        return guard + '::emulate::copy_padded(%s, %s, %s, %s, __FILE__, __LINE__)' % (addr(0, True), addr(1, False), val(2), size)
    if op.startswith('cp.async.bulk.shared') and 'mbarrier' in op:
        return guard + '::emulate::copy_bulk(%s, %s, %s, %s)' % (addr(0, True), addr(1, '.shared::cta.mbarrier' in op), val(2), addr(3, True))
    if op.startswith('cp.async.bulk.global.shared'):
        return guard + 'memcpy(%s, %s, %s)' % (addr(0, False), addr(1, True), val(2))
    if op.startswith('mbarrier.init'):
        return guard + '::emulate::barrier_init(%s, %s)' % (addr(0, True), val(1))
    if op.startswith('mbarrier.inval'):
        return guard + '(void)0'
    if op.startswith('mbarrier.arrive'):
        expect = 'expect_tx' in op
        with_state = args and not args[0].startswith('[')
        at = 1 if with_state else 0
        count = val(at + 1) if len(args) > at + 1 else None
        call = '::emulate::barrier_arrive(%s, %s, %s)' % (addr(at, True), '1' if expect or not count else count,
                                                        count if expect else '0')
        if with_state and args[0] != '_':
            return guard + '%s = %s' % (val(0), call)
        return guard + call
    if op.startswith('mbarrier.expect_tx'):
        return guard + '::emulate::barrier_expect(%s, %s)' % (addr(0, True), val(1))
    if re.match(r'mbarrier\.(try_wait|test_wait)\.parity', op):
        return guard + '%s = ::emulate::barrier_try_parity(%s, %s)' % (val(0), addr(1, True), val(2))
    if re.match(r'mbarrier\.(try_wait|test_wait)', op):
        return guard + '%s = ::emulate::barrier_try(%s, %s)' % (val(0), addr(1, True), val(2))
    if parts[0] in ('fence', 'membar') or op.startswith('nanosleep'):
        return guard + '::emulate::pause()'
    if parts[0] in ('griddepcontrol', 'prefetch', 'prefetchu', 'discard', 'applypriority', 'setmaxnreg') or \
            op.startswith('cp.async.bulk.prefetch'):
        return guard + '(void)0'
    if parts[0] == 'createpolicy':
        return guard + '%s = 0' % val(0)
    if op in ('bar.sync', 'barrier.sync', 'barrier.sync.aligned', 'barrier.cta.sync', 'bar.arrive', 'barrier.arrive',
              'barrier.cta.arrive', 'barrier.cta.sync.aligned', 'bar.cta.sync'):
        return guard + '::emulate::named_barrier(%s, %s, %s, __FILE__, __LINE__)' % (
            val(0), val(1) if len(args) > 1 else '0', 'false' if 'arrive' in op else 'true')
    if op == 'bar.warp.sync':
        return guard + '__syncwarp(%s)' % val(0)
    if op.startswith('barrier.cluster.arrive'):
        return guard + '::emulate::cluster_arrive(__FILE__, __LINE__)'
    if op.startswith('barrier.cluster.wait'):
        return guard + '::emulate::cluster_wait(__FILE__, __LINE__)'
    if parts[0] == 'mapa':
        if shared:
            return guard + '%s = ::emulate::map_shared(%s, %s)' % (val(0), val(1), val(2))
        raise NotEmulated('inline PTX: %s' % op)
    if parts[0] in ('cvta', 'cvta.to'):
        if 'to' in parts:
            return guard + '%s = %s' % (val(0), '::emulate::to_shared((const void *)%s)' % val(1) if shared else val(1))
        raise NotEmulated('inline PTX: %s' % op)
    if parts[0] in ('ld', 'ldu') and kind in TYPES:
        pause = any(p in ('volatile', 'relaxed', 'acquire', 'cv', 'mmio') for p in parts)
        names = re.match(r'\{(.*)\}$', args[0])
        targets = [a.strip() for a in names.group(1).split(',')] if names else [args[0]]
        lines = ['auto p_ = ::emulate::load_parts<%s, %d>(%s, __FILE__, __LINE__)' % (TYPES[kind], len(targets), addr(1))]
        lines += ['%s = p_.v[%d]' % (ref(t), k) for k, t in enumerate(targets)]
        return guard + '{ %s%s; }' % ('::emulate::pause(); ' if pause else '', '; '.join(lines))
    if parts[0] == 'st' and kind in TYPES:
        names = re.match(r'\{(.*)\}$', args[1])
        sources = [a.strip() for a in names.group(1).split(',')] if names else [args[1]]
        values = ', '.join('static_cast<%s>(%s)' % (TYPES[kind], ref(s)) for s in sources)
        return guard + '::emulate::store_parts<%s, %d>(%s, {{%s}}, __FILE__, __LINE__)' % (TYPES[kind], len(sources), addr(0), values)
    if parts[0] in ('red', 'atom') and kind in ATOMIC_TYPES and 'v2' not in parts and 'v4' not in parts:
        which = [ATOMICS[p] for p in parts[1:-1] if p in ATOMICS]
        if which:
            at = 0 if parts[0] == 'red' else 1
            t = ATOMIC_TYPES[kind]
            call = '%s(static_cast<%s *>(%s), %s)' % (which[0], t, addr(at),
                                                      ', '.join('static_cast<%s>(%s)' % (t, val(k)) for k in range(at + 1, len(args))))
            return guard + (call if parts[0] == 'red' else '%s = %s' % (val(0), call))
    if parts[0] == 'lop3' and len(args) == 5:
        return guard + '%s = ::emulate::lop3(%s, %s, %s, %s)' % tuple(val(i) for i in range(5))
    if parts[0] == 'prmt' and len(args) == 4:
        return guard + '%s = emu_prmt(%s, %s, %s)' % tuple(val(i) for i in range(4))
    if parts[0] == 'selp' and len(args) == 4:
        return guard + '%s = %s ? %s : %s' % (val(0), val(3), val(1), val(2))
    if parts[0] == 'setp' and len(args) == 3:
        comparison = {'eq': '==', 'ne': '!=', 'lt': '<', 'le': '<=', 'gt': '>', 'ge': '>='}.get(parts[1])
        if comparison and kind in TYPES:
            return guard + '%s = static_cast<%s>(%s) %s static_cast<%s>(%s)' % (val(0), TYPES[kind], val(1), comparison,
                                                                               TYPES[kind], val(2))
    if parts[0] == 'elect':
        raise NotEmulated('inline PTX: %s' % op)
    name = '.'.join(parts[:-1])
    if name in SIMPLE and kind in TYPES:
        t = TYPES[kind]
        params = ', '.join('static_cast<%s>(%s)' % (t, val(k)) for k in range(1, len(args)))
        names = ['a', 'b', 'c'][:len(args) - 1]
        if 'c_' in SIMPLE[name]:
            names = ['a', 'c_']
            params = 'static_cast<%s>(%s), static_cast<unsigned>(%s)' % (t, val(1), val(2))
        first = ', '.join(('unsigned ' if n == 'c_' else t + ' ') + n for n in names)
        return guard + '%s = [](%s) -> %s { return %s; }(%s)' % (val(0), first, t, SIMPLE[name], params)
    raise NotEmulated('inline PTX: %s' % op)
