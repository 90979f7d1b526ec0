import {
  type AuditEntry,
  AuditResult,
  auditActionLabel,
  auditActions,
  auditResults,
  type Language,
} from '@lamina/contract';
import { Button, Checkbox, Group, NativeSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { useSlidesByText } from '../../api/audit.ts';
import { nameOf } from '../../formatting/person.ts';
import { languageNow } from '../../language/language.ts';
import classes from './AuditLog.module.css';
import type { ShownFilter } from './filter.ts';
import { texts } from './texts.ts';

interface AuditFilterFormProps {
  readonly filter: ShownFilter;
  /** What is shown now: it may know the name behind an id of the filter. */
  readonly entries: readonly AuditEntry[];
  readonly onApply: (filter: ShownFilter) => void;
}

const nothing: ShownFilter = { who: '', action: '', result: '', target: '', from: '', to: '', sessions: '' };
/** The search for a slide starts when the person has stopped typing for so long. */
const searchAfterMs = 250;

/** The filters of the audit log; they apply when the button is pressed, since half an e-mail address finds nothing. */
export function AuditFilterForm({ filter, entries, onApply }: AuditFilterFormProps) {
  const [typed, setTyped] = useState(filter);
  const set = (name: keyof ShownFilter, value: string) => setTyped({ ...typed, [name]: value });
  const language = languageNow('tr');
  const isFiltered = Object.values(filter).some((value) => value !== '');

  function submit(event: FormEvent) {
    event.preventDefault();
    onApply(typed);
  }

  return (
    <form onSubmit={submit}>
      <div className={classes.fields}>
        <TextInput
          label={texts.who}
          description={personCalled(typed.who, entries) ?? texts.whoHint}
          inputWrapperOrder={['label', 'input', 'description']}
          autoComplete="off"
          spellCheck={false}
          value={typed.who}
          onChange={(event) => set('who', event.currentTarget.value)}
        />
        <SlideField value={typed.target} entries={entries} onChange={(value) => set('target', value)} />
        <NativeSelect
          size="md"
          label={texts.action}
          data={[{ value: '', label: texts.anyAction }, ...actionsIn(language)]}
          value={typed.action}
          onChange={(event) => set('action', event.currentTarget.value)}
        />
        <NativeSelect
          size="md"
          label={texts.result}
          data={[{ value: '', label: texts.anyResult }, ...resultsIn(language)]}
          value={typed.result}
          onChange={(event) => set('result', event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={texts.from}
          value={typed.from}
          {...(typed.to !== '' && { max: typed.to })}
          onChange={(event) => set('from', event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={texts.to}
          value={typed.to}
          {...(typed.from !== '' && { min: typed.from })}
          onChange={(event) => set('to', event.currentTarget.value)}
        />
      </div>
      <Checkbox
        mt="md"
        label={texts.showSessions}
        checked={typed.sessions === '1'}
        onChange={(event) => set('sessions', event.currentTarget.checked ? '1' : '')}
      />
      <Group gap="xs" mt="md">
        <Button type="submit">{texts.apply}</Button>
        {isFiltered && (
          <Button type="button" variant="default" onClick={() => onApply(nothing)}>
            {texts.clear}
          </Button>
        )}
      </Group>
    </form>
  );
}

/** By the alphabet of the language. */
function actionsIn(language: Language) {
  return Object.keys(auditActions)
    .map((value) => ({ value, label: auditActionLabel(value, language) }))
    .sort((a, b) => a.label.localeCompare(b.label, language));
}

function resultsIn(language: Language) {
  return AuditResult.options.map((value) => ({ value, label: auditResults[value][language] }));
}

interface SlideFieldProps {
  /** Id of the slide; empty for none. */
  readonly value: string;
  readonly entries: readonly AuditEntry[];
  readonly onChange: (value: string) => void;
}

/** A slide is chosen by its name. */
function SlideField({ value, entries, onChange }: SlideFieldProps) {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, searchAfterMs);
  const slides = useSlidesByText(searched);
  const offered = (slides.data ?? []).map(({ id, fileName, dataset }) => ({
    value: id,
    label: dataset === null ? fileName : `${fileName} · ${dataset}`,
  }));
  const isOffered = offered.some((slide) => slide.value === value);
  const chosen = value === '' || isOffered ? [] : [{ value, label: slideCalled(value, entries) ?? value }];
  return (
    <Select
      size="md"
      label={texts.slide}
      placeholder={texts.anySlide}
      searchable
      clearable
      // The server has searched already: by name, organ and dataset, Turkish letters included.
      filter={({ options }) => options}
      nothingFoundMessage={texts.noSlide}
      data={[...chosen, ...offered]}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      onSearchChange={(typed) => {
        // What is chosen stands in the field, too; that is no search.
        const isChosen = [...chosen, ...offered].some(({ label }) => label === typed);
        setText(isChosen ? '' : typed.trim());
      }}
    />
  );
}

function personCalled(uid: string, entries: readonly AuditEntry[]): string | null {
  for (const { actor, target } of entries) {
    const people = [actor, target?.kind === 'account' ? target : null];
    const person = people.find((each) => each?.uid === uid);
    if (!person) continue;
    return person.email === null ? texts.deletedAccount : nameOf({ ...person, email: person.email });
  }
  return null;
}

function slideCalled(id: string, entries: readonly AuditEntry[]): string | null {
  for (const { target } of entries) {
    if (target?.kind === 'image' && target.id === id) return target.fileName;
  }
  return null;
}
