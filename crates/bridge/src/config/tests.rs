use super::*;

const TELEGRAM: &str = "[session]\nproject = \"harbour\"\ntitle = \"ferries\"\n[source]\nkind = \"telegram\"\n\
                        token_env = \"BOT\"\nowners = [7]\n[agent]\nkind = \"pi\"\n";

fn said(text: &str) -> String {
    match Config::parse(Path::new("bridge.toml"), text) {
        Ok(config) => format!("{config:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_example_in_the_docs_is_one() {
    let config = Config::parse(Path::new("bridge.toml"), EXAMPLE).unwrap();
    assert!(matches!(config.source, SourceConfig::Telegram(_)));
    // What is commented out is one as well.
    let (_, other) = EXAMPLE.split_once("# Another channel:").unwrap();
    let other: String =
        other.lines().skip(1).map(|l| format!("{}\n", l.trim_start_matches(['#', ' ']))).collect();
    let config = Config::parse(Path::new("bridge.toml"), &other).unwrap();
    let Some(SinkConfig::Command(sink)) = config.sink else { panic!("no sink") };
    assert_eq!(sink.ability(), Ability::Key { ttl_ms: 86_400_000 });
}

#[test]
fn unknown_keys_are_refused_with_near_ones() {
    for (mistake, message) in [
        (
            "owner = [7]\n",
            "there is no key `owner` in [source] of the config bridge.toml: did you mean `owners`?",
        ),
        (
            "token = \"4711:secret\"\n",
            "there is no key `token` in [source] of the config bridge.toml: there are `kind`, `token_env`, `token_file`, \
             `base_url`, `owners`, `people`, `chats`, `unknown`, `connect_seconds`, `answer_seconds`",
        ),
    ] {
        let text = TELEGRAM.replace("owners = [7]\n", &format!("owners = [7]\n{mistake}"));
        assert_eq!(said(&text), message);
    }
    let text = format!("{TELEGRAM}[sauce]\n");
    assert_eq!(
        said(&text),
        "there is no key `sauce` in the top level of the config bridge.toml: did you mean `source`?"
    );
}

#[test]
fn what_is_missing_or_does_not_go_together_is_named() {
    for (from, to, message) in [
        ("owners = [7]\n", "", "nobody may speak to the agent"),
        ("token_env = \"BOT\"\n", "", "token_env or token_file"),
        ("owners = [7]\n", "owners = [7]\nanswer_seconds = 91\n", "100 together at most"),
        ("owners = [7]\n", "owners = [7]\nconnect_seconds = 0\n", "from 1 second up"),
        ("token_env = \"BOT\"\n", "token_env = \"B\"\ntoken_file = \"b\"\n", "token_env or token_file"),
        ("owners = [7]\n", "owners = [7]\nbase_url = \"api.telegram.org\"\n", "base_url is not"),
        ("[agent]\n", "[sink]\nkind = \"command\"\ncommand = [\"a\"]\n[agent]\n", "take [sink] out"),
        ("kind = \"pi\"\n", "kind = \"pi\"\ncommand = []\n", "a command is empty"),
        ("owners = [7]", "owners = [\"7\"]", "invalid type: string \"7\", expected i64\nin `owners`"),
        ("kind = \"pi\"", "kind = \"pie\"", "there is no kind \"pie\" of [agent]: did you mean `pi`?"),
        ("kind = \"telegram\"\n", "", "[source] has no kind"),
        ("[session]\nproject = \"harbour\"\n", "[session]\n", "[session]: missing field `project`"),
        ("[session]", "[session", "unclosed table"),
    ] {
        let text = TELEGRAM.replacen(from, to, 1);
        assert!(said(&text).contains(message), "{text}\n{}", said(&text));
    }
}

#[test]
fn a_token_is_taken_from_where_the_config_says() {
    let Config { source: SourceConfig::Telegram(bot), .. } =
        Config::parse(Path::new("bridge.toml"), TELEGRAM).unwrap()
    else {
        panic!("no bot")
    };
    assert_eq!(bot.token(|_| Some("4711:a\n".to_owned())).unwrap().bot(), "4711");
    let missing = bot.token(|_| None).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "the bot's token is not in the variable BOT: put it there, and not into the config"
    );
    let wrong = bot.token(|_| Some("my secret".to_owned())).unwrap_err();
    assert!(!format!("{wrong:?}").contains("my secret"));
}

#[test]
fn a_token_that_was_put_where_the_name_of_its_place_belongs_is_not_repeated() {
    for key in ["token_env", "token_file"] {
        let text = TELEGRAM.replacen("token_env = \"BOT\"", &format!("{key} = \"4711:SECRET\""), 1);
        let Config { source: SourceConfig::Telegram(bot), .. } =
            Config::parse(Path::new("bridge.toml"), &text).unwrap()
        else {
            panic!("no bot")
        };
        let refused = bot.token(|_| None).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("SECRET"), "{refused}");
        assert!(refused.to_string().contains("name a place instead"), "{refused}");
    }
}
