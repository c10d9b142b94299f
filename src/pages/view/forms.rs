//! Forms: their inputs and their buttons.

use super::Tone;

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A line of text.
    Text,
    Secret,
    /// A day.
    Date,
    /// A day with its time, in no zone: the form says which.
    Moment,
    /// One of a few.
    Choice,
    /// Some of many.
    Boxes,
    File,
    /// Some lines of text.
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

/// An input of a form.
pub struct Input {
    /// The name, and the `data-field`.
    pub name: &'static str,
    pub label: String,
    pub kind: Kind,
    /// The value that stands in it; of boxes, those that are ticked, by commas.
    pub value: String,
    /// The values that may be chosen, or are proposed, each with its words.
    pub options: Vec<(String, String)>,
    /// A help under it.
    pub hint: String,
    /// The fault of the value.
    pub error: String,
    /// Whether it has to be filled in.
    pub required: bool,
    /// The words after the label of an input that is required in some cases alone.
    pub needed: Option<&'static str>,
}

impl Input {
    /// A line of text that has to be filled in.
    pub fn new(name: &'static str, label: impl Into<String>) -> Input {
        Input {
            name,
            label: label.into(),
            kind: Kind::Text,
            value: String::new(),
            options: Vec::new(),
            hint: String::new(),
            error: String::new(),
            required: true,
            needed: None,
        }
    }

    /// The input as another kind.
    pub fn kind(self, kind: Kind) -> Input {
        Input { kind, ..self }
    }

    /// The input with something in it.
    pub fn value(self, value: impl Into<String>) -> Input {
        Input { value: value.into(), ..self }
    }

    /// The input with values to choose from; as a text they are proposals.
    pub fn options(self, options: Vec<(String, String)>) -> Input {
        Input { options, ..self }
    }

    /// The input with a help.
    pub fn hint(self, hint: impl Into<String>) -> Input {
        Input { hint: hint.into(), ..self }
    }

    /// The input, which may be left empty.
    pub fn optional(self) -> Input {
        Input { required: false, ..self }
    }

    /// The input, which has to be filled in in some cases: these.
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

/// A button that sends a form.
pub struct Button {
    /// The `data-action`.
    pub action: &'static str,
    /// The words.
    pub label: String,
    pub tone: Tone,
    /// Another address than the form's.
    pub to: Option<String>,
}

pub struct Form {
    /// The id that makes the ids of its inputs distinct on the page.
    pub id: String,
    /// The address that it is sent to.
    pub to: String,
    /// Whether it asks and changes nothing.
    pub is_query: bool,
    /// Whether it carries a file.
    pub is_upload: bool,
    /// Whether it stands in a line.
    pub is_inline: bool,
    /// A heading.
    pub title: String,
    /// A text before the inputs.
    pub about: String,
    /// The reason why it failed.
    pub error: Option<String>,
    /// Values that nobody types.
    pub hidden: Vec<(&'static str, String)>,
    pub inputs: Vec<Input>,
    pub buttons: Vec<Button>,
}

impl Form {
    /// A form with one button, and with a value by which a repeat is known: sent twice, it acts once.
    pub fn new(to: impl Into<String>, action: &'static str, label: impl Into<String>) -> Form {
        Form {
            id: action.to_owned(),
            to: to.into(),
            is_query: false,
            is_upload: false,
            is_inline: false,
            title: String::new(),
            about: String::new(),
            error: None,
            hidden: vec![("once", uuid::Uuid::new_v4().to_string())],
            inputs: Vec::new(),
            buttons: vec![Button { action, label: label.into(), tone: Tone::Plain, to: None }],
        }
    }

    /// A form that asks and changes nothing.
    pub fn query(to: impl Into<String>, action: &'static str, label: impl Into<String>) -> Form {
        Form { is_query: true, is_inline: true, hidden: Vec::new(), ..Form::new(to, action, label) }
    }

    /// The form with a heading.
    pub fn title(self, title: impl Into<String>) -> Form {
        Form { title: title.into(), ..self }
    }

    /// The form with a text before its inputs.
    pub fn about(self, about: impl Into<String>) -> Form {
        Form { about: about.into(), ..self }
    }

    /// The form with an id of its own, where its action is on the page more than once.
    pub fn id(self, id: impl Into<String>) -> Form {
        Form { id: id.into(), ..self }
    }

    /// The form with one more input.
    pub fn input(mut self, input: Input) -> Form {
        self.is_upload |= input.kind == Kind::File;
        self.inputs.push(input);
        self
    }

    /// The form with one more value that nobody types.
    pub fn hidden(mut self, name: &'static str, value: impl Into<String>) -> Form {
        self.hidden.push((name, value.into()));
        self
    }

    /// The form with its last button in this tone.
    pub fn tone(mut self, tone: Tone) -> Form {
        if let Some(button) = self.buttons.last_mut() {
            button.tone = tone;
        }
        self
    }

    /// The form with one more button.
    pub fn button(mut self, button: Button) -> Form {
        self.buttons.push(button);
        self
    }

    /// The form in a line.
    pub fn inline(self) -> Form {
        Form { is_inline: true, ..self }
    }
}
