//! The guest program that the probe runs: a page of machine code and the tables a processor needs to start in 64-bit mode.
//!
//! Pure: it writes into memory that the caller has. It uses what a kernel uses early and what an emulator of single
//! instructions is known to lack (extended state, a breakpoint, a 16-byte compare-and-exchange), and a loop that no such
//! emulator gets through in time.

/// Guest memory, from physical address 0.
#[repr(C, align(4096))]
pub(super) struct Memory(pub(super) [u8; Self::SIZE]);

impl Memory {
    pub(super) const SIZE: usize = 0x1_0000;
}

/// The port that the program reports to.
pub(super) const PORT: u16 = 0x80;
/// What it reports when everything it tried worked.
pub(super) const EXPECTED: u8 = 0x5b;

/// Where the guest's parts are, in bytes from 0.
pub(super) const GDT: u16 = 0x500;
pub(super) const GDT_LIMIT: u16 = 23;
pub(super) const IDT: u16 = 0x4000;
pub(super) const IDT_LIMIT: u16 = 63;
pub(super) const PAGE_TABLES: u16 = 0x1000;
pub(super) const CODE: u16 = 0x5000;
pub(super) const STACK: u16 = 0xa000;

/// Selector of the 64-bit code segment.
pub(super) const CODE_SELECTOR: u16 = 0x08;
/// Selector of the data segment.
pub(super) const DATA_SELECTOR: u16 = 0x10;

/// Where the handler stands in [`PROGRAM`].
const HANDLER: u16 = 0x48;

#[rustfmt::skip]
const PROGRAM: [u8; 0x4c] = [
    0x31, 0xc9,                         //         xor ecx, ecx
    0x31, 0xd2,                         //         xor edx, edx
    0xb8, 0x03, 0x00, 0x00, 0x00,       //         mov eax, 3
    0x0f, 0x01, 0xd1,                   //         xsetbv
    0xbb, 0x00, 0x60, 0x00, 0x00,       //         mov ebx, 0x6000
    0x0f, 0xae, 0x23,                   //         xsave [rbx]
    0x0f, 0xae, 0x2b,                   //         xrstor [rbx]
    0x31, 0xf6,                         //         xor esi, esi
    0xcc,                               //         int3
    0xbf, 0x00, 0x80, 0x00, 0x00,       //         mov edi, 0x8000
    0xb9, 0x00, 0x1b, 0xb7, 0x00,       //         mov ecx, 12000000
    0x48, 0x01, 0xc8,                   // again:  add rax, rcx
    0x48, 0x89, 0x47, 0x10,             //         mov [rdi+16], rax
    0xff, 0xc9,                         //         dec ecx
    0x75, 0xf5,                         //         jnz again
    0x48, 0x8b, 0x07,                   //         mov rax, [rdi]
    0x48, 0x8b, 0x57, 0x08,             //         mov rdx, [rdi+8]
    0xbb, 0x5a, 0x00, 0x00, 0x00,       //         mov ebx, 0x5a
    0xf0, 0x48, 0x0f, 0xc7, 0x0f,       //         lock cmpxchg16b [rdi]
    0x8a, 0x07,                         //         mov al, [rdi]
    0x40, 0x00, 0xf0,                   //         add al, sil
    0xe6, 0x80,                         //         out 0x80, al
    0xf4,                               //         hlt
    0xff, 0xc6,                         // handler: inc esi
    0x48, 0xcf,                         //         iretq
];

/// Fresh guest memory with the program and its tables in it.
pub(super) fn load() -> Box<Memory> {
    let mut memory = Box::new(Memory([0; Memory::SIZE]));
    let mut put = |at: u16, bytes: &[u8]| {
        let at = usize::from(at);
        memory.0[at..at + bytes.len()].copy_from_slice(bytes);
    };
    // Null, 64-bit code, data.
    for (entry, at) in [0, 0x00af_9b00_0000_ffff_u64, 0x00cf_9300_0000_ffff]
        .iter()
        .zip((GDT..).step_by(8))
    {
        put(at, &entry.to_le_bytes());
    }
    // Three levels that map the first 2 MiB to themselves.
    for (level, entry) in [0x2003_u64, 0x3003, 0x0083].iter().enumerate() {
        let at = PAGE_TABLES + u16::try_from(level * 0x1000).expect("there are three levels");
        put(at, &entry.to_le_bytes());
    }
    // Vector 3, the breakpoint: a present interrupt gate.
    let [low, high] = (CODE + HANDLER).to_le_bytes();
    let [selector, _] = CODE_SELECTOR.to_le_bytes();
    put(IDT + 3 * 16, &[low, high, selector, 0, 0, 0x8e]);
    put(CODE, &PROGRAM);
    memory
}

#[cfg(test)]
mod tests {
    use super::{CODE, HANDLER, IDT, PROGRAM, load};

    #[test]
    fn the_gate_leads_to_the_handler() {
        let memory = load();
        let gate = usize::from(IDT) + 3 * 16;
        let target = usize::from(u16::from_le_bytes([memory.0[gate], memory.0[gate + 1]]));
        assert_eq!(target, usize::from(CODE + HANDLER));
        assert_eq!(
            &memory.0[target..target + 4],
            &PROGRAM[0x48..],
            "inc esi; iretq"
        );
        assert_eq!(PROGRAM[0x47], 0xf4, "hlt stands before it");
    }
}
