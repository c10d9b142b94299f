//! Forms: their inputs and their buttons.

use super::Tone;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Text,
    Secret,
    Date,
    /// With its time, in no zone: the form says which.
    Moment,
    Choice,
    Boxes,
    File,
    Lines,
}

impl Kind {
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Kind::Secret => "password",
            Kind::Date => "date",
            Kind::Moment => "datetime-local",
            Kind::File => "file",
            Kind::Text | Kind::Choice | Kind::Boxes | Kind::Lines => "text",
        }
    }
}

#[derive(Default)]
pub struct Input {
    pub name: Cow<'static, str>,
    pub label: String,
    pub kind: Kind,
    /// Of boxes, those that are ticked, by commas.
    pub value: String,
    /// May be chosen, or are proposed, each with its words.
    pub options: Vec<(String, String)>,
    pub hint: String,
    pub error: String,
    pub required: bool,
    /// Behind the label of an input that is required in some cases alone.
    pub needed: Option<&'static str>,
}

impl Input {
    pub fn new(name: impl Into<Cow<'static, str>>, label: impl Into<String>) -> Input {
        Input { name: name.into(), label: label.into(), required: true, ..Input::default() }
    }

    pub fn choice<'o>(
        name: impl Into<Cow<'static, str>>,
        label: impl Into<String>,
        options: impl IntoIterator<Item = (&'o str, &'o str)>,
        value: impl Into<String>,
    ) -> Input {
        Input::new(name, label).kind(Kind::Choice).options(owned(options)).value(value)
    }

    pub fn boxes<'o>(
        name: &'static str,
        label: impl Into<String>,
        options: impl IntoIterator<Item = (&'o str, &'o str)>,
    ) -> Input {
        Input::new(name, label).kind(Kind::Boxes).options(owned(options))
    }

    pub fn kind(self, kind: Kind) -> Input {
        Input { kind, ..self }
    }

    pub fn value(self, value: impl Into<String>) -> Input {
        Input { value: value.into(), ..self }
    }

    pub fn options(self, options: Vec<(String, String)>) -> Input {
        Input { options, ..self }
    }

    pub fn hint(self, hint: impl Into<String>) -> Input {
        Input { hint: hint.into(), ..self }
    }

    pub fn optional(self) -> Input {
        Input { required: false, ..self }
    }

    pub fn needed(self, when: &'static str) -> Input {
        Input { required: false, needed: Some(when), ..self }
    }

    pub(super) fn is_chosen(&self, value: &str) -> bool {
        self.value == value
    }

    pub(super) fn is_ticked(&self, value: &str) -> bool {
        self.value.split(',').any(|ticked| ticked == value)
    }
}

pub fn owned<'o>(options: impl IntoIterator<Item = (&'o str, &'o str)>) -> Vec<(String, String)> {
    options.into_iter().map(|(name, words)| (name.to_owned(), words.to_owned())).collect()
}

pub struct Button {
    pub action: &'static str,
    pub label: String,
    pub tone: Tone,
    pub to: Option<String>,
}

impl Button {
    /// A way back, which does nothing.
    pub fn quiet(action: &'static str, label: impl Into<String>, to: String) -> Button {
        Button { action, label: label.into(), tone: Tone::Quiet, to: Some(to) }
    }

    /// A second way that a form ends, which is not the good one.
    pub fn bad(action: &'static str, label: impl Into<String>, to: String) -> Button {
        Button { action, label: label.into(), tone: Tone::Bad, to: Some(to) }
    }
}

#[derive(Default)]
pub struct Form {
    /// Makes the ids of its inputs distinct on the page.
    pub id: String,
    pub to: String,
    pub is_query: bool,
    pub is_upload: bool,
    pub is_inline: bool,
    pub title: String,
    pub about: String,
    pub error: Option<String>,
    pub hidden: Vec<(String, String)>,
    pub inputs: Vec<Input>,
    pub buttons: Vec<Button>,
}

impl Form {
    /// With a value by which a repeat is known: sent twice, the form acts once.
    pub fn new(to: impl Into<String>, action: &'static str, label: impl Into<String>) -> Form {
        Form {
            id: action.to_owned(),
            to: to.into(),
            hidden: vec![("once".to_owned(), uuid::Uuid::new_v4().to_string())],
            buttons: vec![Button { action, label: label.into(), tone: Tone::Plain, to: None }],
            ..Form::default()
        }
    }

    pub fn query(to: impl Into<String>, action: &'static str, label: impl Into<String>) -> Form {
        Form { is_query: true, is_inline: true, hidden: Vec::new(), ..Form::new(to, action, label) }
    }

    pub fn title(self, title: impl Into<String>) -> Form {
        Form { title: title.into(), ..self }
    }

    pub fn about(self, about: impl Into<String>) -> Form {
        Form { about: about.into(), ..self }
    }

    /// Where the action is on the page more than once.
    pub fn id(self, id: impl Into<String>) -> Form {
        Form { id: id.into(), ..self }
    }

    pub fn input(mut self, input: Input) -> Form {
        self.is_upload |= input.kind == Kind::File;
        self.inputs.push(input);
        self
    }

    /// Acts as another form would, of which it is the second step: together they act once.
    pub fn once(mut self, once: &str) -> Form {
        self.hidden.retain(|(name, _)| name != "once");
        self.hidden("once", once)
    }

    pub fn hidden(mut self, name: impl Into<String>, value: impl Into<String>) -> Form {
        self.hidden.push((name.into(), value.into()));
        self
    }

    pub fn tone(mut self, tone: Tone) -> Form {
        if let Some(button) = self.buttons.last_mut() {
            button.tone = tone;
        }
        self
    }

    pub fn button(mut self, button: Button) -> Form {
        self.buttons.push(button);
        self
    }

    pub fn error(self, error: Option<String>) -> Form {
        Form { error, ..self }
    }

    /// By one of its buttons.
    pub fn is_sent_to(&self, path: &str) -> bool {
        self.to == path || self.buttons.iter().any(|button| button.to.as_deref() == Some(path))
    }

    pub fn inline(self) -> Form {
        Form { is_inline: true, ..self }
    }
}
