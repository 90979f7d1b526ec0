import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { messageOf } from '../../api/client.ts';
import { useDatasets } from '../../api/datasets.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import classes from './TermsFields.module.css';
import type { ChosenTerms } from './terms.ts';
import { firstSelectableDay } from './terms.ts';
import { texts } from './texts.ts';

interface TermsFieldsProps {
  readonly terms: ChosenTerms;
  readonly onChange: (terms: ChosenTerms) => void;
}

/** Fields for the terms of an account: its restricted datasets and its end date. */
export function TermsFields({ terms, onChange }: TermsFieldsProps) {
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
        type="date"
        label={texts.endDate}
        description={texts.endDateHint}
        min={firstSelectableDay()}
        value={terms.lastDay}
        onChange={(event) => onChange({ ...terms, lastDay: event.currentTarget.value })}
      />
      <Text size="sm" c="dimmed">
        {texts.openDatasetsHint}
      </Text>
    </>
  );
}
