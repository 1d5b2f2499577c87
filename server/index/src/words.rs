//! The words in names and sentences, so that `parseInvoiceTotal`, `invoice_total` and "the totals of invoices" meet.

/// Longer words are no words.
const LONGEST: usize = 40;

/// Words of requests that say nothing about a place.
const STOP: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "into", "when", "then", "than", "are",
    "was", "were", "has", "have", "had", "not", "but", "all", "any", "can", "could", "should",
    "would", "must", "make", "makes", "made", "use", "uses", "used", "using", "add", "adds", "new",
    "old", "fix", "fixes", "does", "doesn", "don", "isn", "its", "it", "is", "be", "to", "of",
    "in", "on", "at", "by", "as", "an", "a", "or", "if", "so", "do", "we", "our", "you", "your",
    "my", "me", "they", "their", "there", "where", "which", "what", "who", "how", "why", "still",
    "also", "only", "just", "too", "now", "instead", "please", "change", "changes", "code", "file",
    "files", "function", "line", "lines", "out", "up", "no", "yes", "one", "two", "every", "each",
    "some", "more", "after", "before", "between", "about", "over", "them", "gets", "get", "let",
    "want", "need", "needs", "goes", "come", "comes", "back",
];

/// A name or word as a number. Different names may have the same one, but hardly ever do.
pub(crate) fn hash(name: &str) -> u32 {
    // FNV-1a: the same on every machine and in every release.
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Calls `take` with each word of a text: split at what is no letter or digit and where lower case meets upper case, in
/// lower case, without the usual endings.
pub(crate) fn each(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    let mut was_lower = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_alphanumeric() {
            flush(&mut word, &mut take);
            was_lower = false;
            continue;
        }
        // `parseHTTPHeader` is parse, http, header.
        let begins = c.is_uppercase()
            && (was_lower
                || !word.is_empty() && chars.peek().is_some_and(|next| next.is_lowercase()));
        if begins {
            flush(&mut word, &mut take);
        }
        was_lower = c.is_lowercase() || c.is_numeric();
        word.extend(c.to_lowercase());
    }
    flush(&mut word, &mut take);
}

fn flush(word: &mut String, take: &mut impl FnMut(&str)) {
    let is_word =
        (2..=LONGEST).contains(&word.len()) && !word.bytes().all(|byte| byte.is_ascii_digit());
    if is_word {
        take(stem(word));
    }
    word.clear();
}

/// A word without the endings that only change its form.
fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    for (end, least) in [
        ("ations", 4),
        ("ation", 4),
        ("ings", 4),
        ("ing", 4),
        ("ies", 3),
        ("ied", 3),
        ("ers", 4),
        ("ed", 4),
        ("er", 4),
        ("es", 4),
        ("s", 3),
        ("e", 3),
        ("y", 3),
    ] {
        if let Some(rest) = word.strip_suffix(end)
            && rest.len() >= least
            && !(end == "s" && rest.ends_with('s'))
        {
            return rest;
        }
    }
    word
}

/// The words of a request, each once, without those that say nothing.
pub(crate) fn of_request(text: &str) -> Vec<u32> {
    let stop: Vec<&str> = STOP.iter().map(|word| stem(word)).collect();
    let mut words = Vec::new();
    each(text, |word| {
        let hash = hash(word);
        if word.len() > 2 && !stop.contains(&word) && !words.contains(&hash) {
            words.push(hash);
        }
    });
    words
}

/// Names and paths that a request says as such: what holds a letter and one of `_ . / : -`, has a capital inside, or
/// stands in backquotes.
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_quoted = false;
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            is_quoted = !is_quoted;
        }
        for word in part.split(|c: char| c.is_whitespace() || ",;()[]{}\"'<>=".contains(c)) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '/');
            let inside = word.get(1..).unwrap_or_default();
            let is_name = is_quoted
                || word.contains(['_', '/', '.'])
                || word.contains("::")
                || inside.chars().any(char::is_uppercase) && word.chars().any(char::is_lowercase);
            if is_name
                && word.len() > 1
                && word.len() <= 200
                && !names.iter().any(|had| had == word)
            {
                names.push(word.to_owned());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn names_and_sentences_meet_in_their_words() {
        assert_eq!(words("parseHTTPHeader"), ["pars", "http", "head"]);
        assert_eq!(words("invoice_totals"), words("Invoice total"));
        assert_eq!(words("retries retry retried"), ["retr", "retr", "retr"]);
        assert_eq!(words("utf8 x 42"), ["utf8"]);
        assert_eq!(words("Größe"), ["größe"]);
        assert_eq!(of_request("fix the code of the file"), Vec::<u32>::new());
        assert_eq!(of_request("total of totals").len(), 1);
    }

    #[test]
    fn names_are_told_from_words() {
        assert_eq!(
            names("rename `total` to grand_total in src/bill.py, and InvoiceLine. Done."),
            ["total", "grand_total", "src/bill.py", "InvoiceLine"]
        );
    }
}
