//! What people and models say, made up from a seed: English, Korean, Japanese and Chinese, some code, and the long tail of
//! names, numbers and paths that real texts have. Korean words bear particles and Chinese and Japanese ones stand in
//! longer runs, so that a word of two characters is rarely set apart.

/// Bytes that a turn has at least; most have a sentence more.
const BYTES: usize = 512;

/// A seeded source of numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    /// One of a list whose beginning is much more frequent than its end.
    fn common<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let (a, b) = (self.below(words.len()), self.below(words.len()));
        words.get(a * b / words.len().max(1)).copied().unwrap_or_default()
    }

    fn any<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }
}

const ENGLISH: &[&str] = &[
    "the test",
    "the build",
    "a file",
    "the server",
    "the session",
    "that function",
    "the schedule",
    "a report",
    "the branch",
    "the parser",
    "this error",
    "the harbour",
    "the release",
    "an article",
    "the database",
    "the index",
    "a summary",
    "the timetable",
    "the customer",
    "this request",
    "the gateway",
    "the queue",
    "the invoice",
    "a fixture",
    "the ferry",
    "the warehouse",
    "the certificate",
    "a migration",
    "the dashboard",
    "the benchmark",
    "the licence",
    "the translation",
    "the sandbox",
    "a checksum",
    "the lighthouse",
    "the compiler",
    "the inventory",
    "the postmortem",
];
const ENGLISH_SAYS: &[&str] = &[
    "{} fails only when {} runs twice, so look at {} first.",
    "I changed {} and {} still passes.",
    "Please compare {} with {} before you touch {}.",
    "There is no reason to keep {} now that {} is there.",
    "After the change {} takes half as long, but {} needs more memory.",
    "Read {} again: it says that {} belongs to {}.",
    "We should not ship {} while {} is open.",
];
const KOREAN: &[&str] = &[
    "파일",
    "테스트",
    "서버",
    "회의",
    "일정",
    "코드",
    "오류",
    "기사",
    "세션",
    "결과",
    "보고서",
    "데이터",
    "고객",
    "문서",
    "배포",
    "설정",
    "검색",
    "주소",
    "번역",
    "요청",
    "함수",
    "항구",
    "시간표",
    "색인",
    "모델",
    "승인",
    "저장소",
    "요약",
    "계약",
    "환불",
    "품질",
    "재고",
    "인증서",
    "여객선",
    "등대",
    "사용량",
    "회귀",
    "초안",
];
const KOREAN_SAYS: &[&str] = &[
    "{}를 먼저 확인하고 {}에 반영해 주세요.",
    "어제 받은 {}에서 {}가 빠져 있습니다.",
    "{}와 {}의 순서가 바뀌면 {}도 달라집니다.",
    "이 {}는 그대로 두고 {}만 고치면 됩니다.",
    "{}이 끝나면 {}로 넘어가겠습니다.",
    "왜 {}가 두 번 실행되는지 {}를 보면 알 수 있어요.",
    "신규{} 때문에 {}검토가 늦어졌습니다.",
];
const JAPANESE: &[&str] = &[
    "設定",
    "資料",
    "画面",
    "結果",
    "注文",
    "予定",
    "関数",
    "在庫",
    "会議",
    "翻訳",
    "証明書",
    "顧客",
    "時刻表",
    "検索",
    "港",
    "灯台",
    "依頼",
    "契約",
    "報告書",
    "下書き",
    "テスト",
    "サーバー",
    "データベース",
    "リリース",
];
const JAPANESE_SAYS: &[&str] = &[
    "{}を先に確認してから{}に進みます。",
    "昨日の{}では{}が決まりませんでした。",
    "{}の変更で{}が二回動いてしまいます。",
    "次回{}室で{}について話しましょう。",
    "{}はこのままで、{}だけ直してください。",
];
const CHINESE: &[&str] = &[
    "文件",
    "结果",
    "服务器",
    "测试",
    "数据",
    "代码",
    "错误",
    "客户",
    "合同",
    "时刻表",
    "索引",
    "报告",
    "会话",
    "港口",
    "灯塔",
    "翻译",
    "请求",
    "证书",
    "库存",
    "发布",
    "搜索",
    "草稿",
    "质量",
    "摘要",
];
const CHINESE_SAYS: &[&str] = &[
    "请先检查{}再更新{}。",
    "昨天的{}里没有{}，所以{}不完整。",
    "{}库里的{}和{}不一致。",
    "如果{}失败，就回滚到旧的{}。",
    "这个{}不需要改，只要修{}就行。",
];
const SURNAMES: &[&str] = &["김", "이", "박", "최", "정", "강", "조", "윤", "장", "임", "한", "오"];
const GIVEN: &[&str] = &[
    "민", "서", "지", "현", "우", "준", "하", "은", "수", "영", "진", "도", "윤", "채", "원", "호", "빈",
    "아",
];

/// The turn with this number; the same for the same seed.
pub(crate) fn turn(seed: u64, number: u64) -> String {
    let mut random = Random::new(seed ^ number.wrapping_mul(0xD134_2543_DE82_EF95));
    let language = random.below(20);
    let mut text = String::with_capacity(BYTES + 256);
    while text.len() < BYTES {
        sentence(&mut random, language, &mut text);
        if random.below(3) == 0 {
            tail(&mut random, &mut text);
        }
        text.push(if random.below(8) == 0 { '\n' } else { ' ' });
    }
    text
}

fn sentence(random: &mut Random, language: usize, text: &mut String) {
    let (says, words) = match language {
        0..=6 => (ENGLISH_SAYS, ENGLISH),
        7..=13 => (KOREAN_SAYS, KOREAN),
        14..=16 => (JAPANESE_SAYS, JAPANESE),
        _ => (CHINESE_SAYS, CHINESE),
    };
    let mut pieces = random.any(says).split("{}").peekable();
    while let Some(piece) = pieces.next() {
        text.push_str(piece);
        if pieces.peek().is_some() {
            text.push_str(random.common(words));
        }
    }
}

/// What occurs once or a few times in all.
fn tail(random: &mut Random, text: &mut String) {
    let number = random.next();
    let tail = match random.below(4) {
        0 => format!(" src/part_{}/mod_{}.rs:{}", number % 97, number % 4_001, number % 900),
        1 => format!(" ticket-{}", number % 200_000),
        2 => format!(" {:010x}", number & 0xFF_FFFF_FFFF),
        _ => format!(" {}{}{} 님", random.any(SURNAMES), random.any(GIVEN), random.any(GIVEN)),
    };
    text.push_str(&tail);
}

/// Whether a text has a word: as a whole word where words are set apart, anywhere in a run where they are not.
pub(crate) fn has(text: &str, word: &str) -> bool {
    match word.is_ascii() {
        true => text.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w.eq_ignore_ascii_case(word)),
        false => text.contains(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_says_the_same() {
        assert_eq!(turn(1, 7), turn(1, 7));
        assert_ne!(turn(1, 7), turn(1, 8));
        assert_ne!(turn(1, 7), turn(2, 7));
    }

    #[test]
    fn all_words_that_are_searched_occur() {
        let texts: Vec<String> = (0..2_000).map(|n| turn(1, n)).collect();
        for word in crate::rows::search::WORDS {
            let hits = texts.iter().filter(|t| has(t, word)).count();
            assert!((1..texts.len() / 2).contains(&hits), "{word}: {hits}");
        }
    }
}
