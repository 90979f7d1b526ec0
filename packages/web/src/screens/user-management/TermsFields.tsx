import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { messageOf } from '../../api/client.ts';
import { useDatasets } from '../../api/datasets.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import classes from './TermsFields.module.css';
import { firstSelectableDay, lastSelectableDay } from './terms.ts';
import { texts } from './texts.ts';
import type { TermsFieldsProps } from './use-terms.ts';

/** Fields for the terms of an account: its restricted datasets and its end date. `useTerms` returns the properties. */
export function TermsFields({ terms, onChange, dateField, hasDateError }: TermsFieldsProps) {
  const datasets = useDatasets();
  const restrictedDatasets = (datasets.data ?? []).filter(({ access }) => access === 'restricted');
  return (
    <>
      {datasets.isLoadingError && (
        <LoadFailed
          message={messageOf(datasets.error, texts.datasetsFailed)}
          onRetry={() => void datasets.refetch()}
        />
      )}
      {restrictedDatasets.length > 0 && (
        <Checkbox.Group
          label={texts.restrictedDatasets}
          description={texts.restrictedDatasetsHint}
          value={[...terms.datasets]}
          onChange={(datasets) => onChange({ ...terms, datasets })}
        >
          <Stack gap="xs" mt="xs" className={classes.datasets}>
            {restrictedDatasets.map(({ name }) => (
              <Checkbox key={name} value={name} label={name} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      <TextInput
        ref={dateField}
        type="date"
        label={texts.endDate}
        description={texts.endDateHint}
        error={hasDateError && texts.endDateInvalid}
        min={firstSelectableDay()}
        max={lastSelectableDay}
        value={terms.lastDay}
        onChange={(event) => onChange({ ...terms, lastDay: event.currentTarget.value })}
      />
      <Text size="sm" c="dimmed">
        {texts.openDatasetsHint}
      </Text>
    </>
  );
}
