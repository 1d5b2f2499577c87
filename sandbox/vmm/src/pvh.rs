//! A raw kernel image as an ELF file that QEMU can start.
//!
//! libkrunfw holds the loaded segments of a kernel, not a file. QEMU's `-kernel` wants an ELF with a PVH entry note; the
//! note's text stands in the image itself, and its value is all that is needed to write one. Pure: bytes in, bytes out.

use thiserror::Error;

/// What the kernel needs above its image before it knows its own memory: `.bss` and the early page tables.
const ROOM_ABOVE: u64 = 64 * 1024 * 1024;
const NOTE_NAME: &[u8; 4] = b"Xen\0";
/// `XEN_ELFNOTE_PHYS32_ENTRY`.
const NOTE_TYPE: u32 = 18;

const FILE_HEADER: u16 = 64;
const PROGRAM_HEADER: u16 = 56;
/// Where the note stands: behind the file header and two program headers.
const NOTE_OFFSET: u64 = 64 + 2 * 56;
const NOTE_SIZE: u64 = 12 + 4 + 8;
/// Where the image stands: page-aligned, so that it can be mapped.
const IMAGE_OFFSET: u64 = 4096;

/// Why an image cannot be wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum PvhError {
    /// No Xen note with an entry point inside the image.
    #[error(
        "the guest kernel has no PVH entry note, so QEMU cannot start it; use a libkrunfw built with CONFIG_PVH=y"
    )]
    NoEntry,
    /// The addresses do not fit.
    #[error("the guest kernel of {bytes} bytes does not fit above its load address {load:#x}")]
    TooLarge {
        /// Size of the image.
        bytes: usize,
        /// Where it is to be loaded.
        load: u64,
    },
}

/// Wraps `image`, which is to be loaded at the physical address `load`, in an ELF64 file.
pub(crate) fn wrap(image: &[u8], load: u64) -> Result<Vec<u8>, PvhError> {
    let too_large = PvhError::TooLarge {
        bytes: image.len(),
        load,
    };
    let size = u64::try_from(image.len()).map_err(|_| too_large)?;
    let memory = size.checked_add(ROOM_ABOVE).ok_or(too_large)?;
    let end = load.checked_add(memory).ok_or(too_large)?;
    if end > u64::from(u32::MAX) {
        // The entry is called in 32-bit mode.
        return Err(too_large);
    }
    let entry = entry_point(image, load..load + size).ok_or(PvhError::NoEntry)?;

    let mut file = Vec::with_capacity(image.len() + 4096);
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"); // 64-bit, little-endian, version 1, System V.
    file.extend(2u16.to_le_bytes()); // ET_EXEC
    file.extend(62u16.to_le_bytes()); // EM_X86_64
    file.extend(1u32.to_le_bytes());
    file.extend(entry.to_le_bytes());
    file.extend(u64::from(FILE_HEADER).to_le_bytes()); // Program headers follow.
    file.extend(0u64.to_le_bytes()); // No sections.
    file.extend(0u32.to_le_bytes());
    for half in [FILE_HEADER, PROGRAM_HEADER, 2, 0, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    program_header(&mut file, 1, 7, IMAGE_OFFSET, load, [size, memory, 4096]); // PT_LOAD
    program_header(&mut file, 4, 4, NOTE_OFFSET, 0, [NOTE_SIZE, NOTE_SIZE, 4]); // PT_NOTE
    for word in [4, 8, NOTE_TYPE] {
        file.extend(word.to_le_bytes());
    }
    file.extend(NOTE_NAME);
    file.extend(entry.to_le_bytes());
    file.resize(4096, 0);
    file.extend(image);
    Ok(file)
}

fn program_header(
    file: &mut Vec<u8>,
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    sizes: [u64; 3],
) {
    file.extend(kind.to_le_bytes());
    file.extend(flags.to_le_bytes());
    for word in [offset, address, address].into_iter().chain(sizes) {
        file.extend(word.to_le_bytes());
    }
}

/// The value of the first PVH note in `image` that points into it.
fn entry_point(image: &[u8], within: std::ops::Range<u64>) -> Option<u64> {
    image
        .windows(NOTE_NAME.len())
        .enumerate()
        .filter(|(_, name)| *name == NOTE_NAME)
        .find_map(|(at, _)| {
            let word = |offset: usize| {
                image
                    .get(offset..offset + 4)?
                    .try_into()
                    .ok()
                    .map(u32::from_le_bytes)
            };
            let header = at.checked_sub(12)?;
            let value = at + NOTE_NAME.len();
            if word(header)? != 4 || word(header + 8)? != NOTE_TYPE {
                return None;
            }
            let entry = match word(header + 4)? {
                4 => u64::from(word(value)?),
                8 => u64::from(word(value)?) | u64::from(word(value + 4)?) << 32,
                _ => return None,
            };
            within.contains(&entry).then_some(entry)
        })
}

#[cfg(test)]
mod tests {
    use super::{PvhError, wrap};

    const LOAD: u64 = 0x100_0000;

    fn note(value: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for word in [4, u32::try_from(value.len()).unwrap(), 18] {
            note.extend(word.to_le_bytes());
        }
        note.extend(b"Xen\0");
        note.extend(value);
        note
    }

    fn image(note: &[u8]) -> Vec<u8> {
        let mut image = b"text that names Xen\0 and goes on".to_vec();
        image.extend(note);
        image.resize(8192, 0x90);
        image
    }

    fn word(file: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(file[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn writes_one_load_segment_and_the_note() {
        let image = image(&note(&0x100_0010u64.to_le_bytes()));
        let file = wrap(&image, LOAD).unwrap();
        assert_eq!(&file[..5], b"\x7fELF\x02");
        assert_eq!(word(&file, 24), 0x100_0010, "e_entry");
        // PT_LOAD: offset, paddr, filesz, memsz.
        assert_eq!(word(&file, 64 + 8), 4096);
        assert_eq!(word(&file, 64 + 24), LOAD);
        assert_eq!(word(&file, 64 + 32), 8192);
        assert_eq!(word(&file, 64 + 40), 8192 + 64 * 1024 * 1024);
        // PT_NOTE points at a note equal to the image's.
        let at = usize::try_from(word(&file, 120 + 8)).unwrap();
        assert_eq!(&file[at..at + 24], note(&0x100_0010u64.to_le_bytes()));
        assert_eq!(&file[4096..], image);
    }

    #[test]
    fn reads_a_short_note() {
        let file = wrap(&image(&note(&0x100_0020u32.to_le_bytes())), LOAD).unwrap();
        assert_eq!(word(&file, 24), 0x100_0020);
    }

    #[test]
    fn refuses_an_image_without_an_entry_inside_it() {
        assert_eq!(wrap(&image(b""), LOAD), Err(PvhError::NoEntry));
        assert_eq!(
            wrap(&image(&note(&1u64.to_le_bytes())), LOAD),
            Err(PvhError::NoEntry)
        );
        assert_eq!(wrap(&image(&note(&[0; 7])), LOAD), Err(PvhError::NoEntry));
        assert_eq!(wrap(b"Xen\0", LOAD), Err(PvhError::NoEntry));
    }

    #[test]
    fn refuses_what_32_bit_code_cannot_reach() {
        let image = image(&note(&0x100_0010u64.to_le_bytes()));
        assert!(matches!(
            wrap(&image, 0xffff_f000),
            Err(PvhError::TooLarge { .. })
        ));
        assert!(matches!(
            wrap(&image, u64::MAX),
            Err(PvhError::TooLarge { .. })
        ));
    }
}
