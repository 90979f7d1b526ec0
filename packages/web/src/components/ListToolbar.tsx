import { Button, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import classes from './ListToolbar.module.css';
import { texts } from './texts.ts';

/** One choice of the toolbar: a filter or the order of the list. */
export interface ToolbarChoice {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

interface ListToolbarProps {
  readonly searchLabel: string;
  readonly searchHint?: string;
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly choices?: readonly ToolbarChoice[];
  /** Text with the number of entries; null while the number is unknown. */
  readonly count: string | null;
  /** Clears the search and the filters; null when none is set. */
  readonly onClear: (() => void) | null;
  /** Further fields, between the choices and the count. */
  readonly children?: ReactNode;
}

/** The search starts when the person has not typed for this time. */
const searchAfterMs = 250;
const searchMaxLength = 200;

/** Above a list: search, filters, order, the number of entries and a button that clears search and filters. */
export function ListToolbar({
  searchLabel,
  searchHint,
  search,
  onSearch,
  choices = [],
  count,
  onClear,
  children,
}: ListToolbarProps) {
  const [typed, setTyped] = useState(search);
  const [appliedSearch, setAppliedSearch] = useState(search);
  const searchLater = useDebouncedCallback((text: string) => onSearch(text.trim()), searchAfterMs);
  // The search changed elsewhere: by the clear button or by the back button of the browser.
  if (search !== appliedSearch) {
    setAppliedSearch(search);
    if (search !== typed.trim()) setTyped(search);
  }

  return (
    <div className={classes.toolbar}>
      <TextInput
        className={classes.search ?? ''}
        type="search"
        label={searchLabel}
        {...(searchHint !== undefined && { placeholder: searchHint })}
        maxLength={searchMaxLength}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          searchLater(value);
        }}
      />
      {choices.map(({ label, value, options, onChange }) => (
        <Select
          key={label}
          size="md"
          label={label}
          data={[...options]}
          value={value}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      ))}
      {children}
      <div className={classes.state}>
        <Text size="sm" c="dimmed" aria-live="polite">
          {count}
        </Text>
        {onClear !== null && (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconX size={16} aria-hidden />}
            onClick={() => {
              searchLater.cancel();
              setTyped('');
              onClear();
            }}
          >
            {texts.clear}
          </Button>
        )}
      </div>
    </div>
  );
}
