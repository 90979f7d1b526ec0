import type { Case } from '@lamina/contract';
import { Button, Checkbox, Group, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { makeCase, useCases } from '../../api/cases.ts';
import { useDatasetImages } from '../../api/catalogue.ts';
import { messageOf } from '../../api/client.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { announce } from '../../notifications/notify.ts';
import classes from './CaseManagement.module.css';
import { blockAndStainOf, type NamingRule, type ProposedCase, proposeCases } from './propose-cases.ts';
import { texts } from './texts.ts';

const separators: readonly NamingRule['separator'][] = ['_', '-', ' ', '.'];

interface ProposeCasesProps {
  readonly dataset: string;
  readonly onClose: () => void;
}

/** Dialog that proposes cases (the slides of one specimen) from the file names of a dataset, and creates the selected cases. */
export function ProposeCases({ dataset, onClose }: ProposeCasesProps) {
  const images = useDatasetImages(dataset); // all ready slides of the dataset; the API calls slides images
  const cases = useCases({ dataset });
  const [rule, setRule] = useState<NamingRule>({ separator: '_', caseParts: 1 });
  const [excludedNames, setExcludedNames] = useState<ReadonlySet<string>>(new Set());
  const [isRunning, setRunning] = useState(false);
  /** Empty until slides and cases are loaded: without the cases, slides that are in a case already would be proposed again. */
  const proposedCases =
    images.data === undefined || cases.data === undefined
      ? []
      : proposeCases(images.data, rule, idsOfSlidesIn(cases.data));
  const selectedCases = proposedCases.filter(({ name }) => !excludedNames.has(name));

  /** Creates the selected cases one after the other; stops at the first failure. */
  async function createCases() {
    setRunning(true);
    let createdCount = 0;
    for (const proposedCase of selectedCases) {
      const result = await makeCase(newCaseOf(dataset, proposedCase));
      if (!result.success) {
        announce(result);
        break;
      }
      createdCount += 1;
    }
    setRunning(false);
    if (createdCount > 0) announce({ success: true, message: texts.casesCreated(createdCount) });
    if (createdCount === selectedCases.length) onClose();
  }

  return (
    <Dialog title={texts.propose} size="xl" isRunning={isRunning} onClose={onClose}>
      <Stack>
        <Text size="sm">{texts.proposeHint}</Text>
        <Group align="flex-end">
          <Select
            label={texts.separator}
            data={separators.map((value) => ({ value, label: texts.separators[value] }))}
            value={rule.separator}
            allowDeselect={false}
            // `find` narrows the string of the field to the type of a separator.
            onChange={(value) =>
              setRule({ ...rule, separator: separators.find((separator) => separator === value) ?? '_' })
            }
          />
          <NumberInput
            label={texts.caseParts}
            min={1}
            max={9}
            allowDecimal={false}
            value={rule.caseParts}
            onChange={(value) => setRule({ ...rule, caseParts: Math.max(1, Number(value) || 1) })} // an empty field counts as 1
          />
        </Group>
        {(images.isPending || cases.isPending) && <Loading label={texts.slidesLoading} />}
        {images.isLoadingError && (
          <LoadFailed
            message={messageOf(images.error, texts.slidesFailed)}
            onRetry={() => void images.refetch()}
          />
        )}
        {cases.isLoadingError && (
          <LoadFailed
            message={messageOf(cases.error, texts.loadFailed)}
            onRetry={() => void cases.refetch()}
          />
        )}
        {images.data !== undefined && cases.data !== undefined && (
          <ProposedCases
            cases={proposedCases}
            excludedNames={excludedNames}
            onExcludedNamesChange={setExcludedNames}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" disabled={isRunning} onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            loading={isRunning}
            disabled={selectedCases.length === 0}
            onClick={() => void createCases()}
          >
            {texts.createCases(selectedCases.length)}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

interface ProposedCasesProps {
  readonly cases: readonly ProposedCase[];
  /** Names of the cases that the user has deselected. */
  readonly excludedNames: ReadonlySet<string>;
  readonly onExcludedNamesChange: (names: ReadonlySet<string>) => void;
}

function ProposedCases({ cases, excludedNames, onExcludedNamesChange }: ProposedCasesProps) {
  if (cases.length === 0) return <Text c="dimmed">{texts.nothingProposed}</Text>;
  return (
    <ul className={classes.proposed}>
      {cases.map(({ name, slides }) => (
        <li key={name}>
          <Checkbox
            label={`${name} (${texts.slideCount(slides.length)})`}
            description={slides.map((slide) => `${slide.fileName} → ${blockAndStainOf(slide)}`).join(', ')}
            checked={!excludedNames.has(name)}
            onChange={({ currentTarget }) => {
              const next = new Set(excludedNames);
              if (currentTarget.checked) next.delete(name);
              else next.add(name);
              onExcludedNamesChange(next);
            }}
          />
        </li>
      ))}
    </ul>
  );
}

/** Returns the ids of the slides that are in one of the cases. */
function idsOfSlidesIn(cases: readonly Case[]): ReadonlySet<string> {
  return new Set(cases.flatMap(({ slides }) => slides.map(({ image_id }) => image_id)));
}

/** Returns the body of the API call that creates the case. */
function newCaseOf(dataset: string, { name, slides }: ProposedCase) {
  return {
    dataset,
    name,
    slides: slides.map(({ imageId, block, stain }) => ({ image_id: imageId, block, stain })),
  };
}
