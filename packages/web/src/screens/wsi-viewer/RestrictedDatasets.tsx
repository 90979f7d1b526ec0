import type { RequestableDataset } from '@lamina/contract';
import { Button } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useRequestableDatasets } from '../../api/datasets.ts';
import { lazyPart } from '../../components/lazy-part.tsx';
import { PartNotShown } from './PartNotShown.tsx';
import classes from './RestrictedDatasets.module.css';
import { SidebarSection } from './SidebarSection.tsx';
import { texts } from './texts.ts';

/** Loaded separately, so that the catalogue's first rows do not wait for the code of the dialog. */
const RequestDatasetDialog = lazyPart(
  async () => (await import('./RequestDatasetDialog.tsx')).RequestDatasetDialog,
  ({ onRetry }) => <PartNotShown message={texts.requestFormFailed} onRetry={onRetry} />,
);

/** The `id` attribute of the section, by which the viewer finds its first button. */
export const restrictedDatasetsId = 'requestable-datasets';

interface RestrictedDatasetsProps {
  /** Called when the user has gained or lost access to a dataset. */
  readonly onAccessChanged: () => void;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

/**
 * The section below the catalogue that lists the restricted datasets to which the user has no access, with buttons to request access.
 * Renders nothing when there are no such datasets.
 */
export function RestrictedDatasets({ onAccessChanged, isOpen, onToggle }: RestrictedDatasetsProps) {
  const { data } = useRequestableDatasets();
  /** Name of the dataset for which the dialog is open; null while it is closed. */
  const [requestedDataset, setRequestedDataset] = useState<string | null>(null);
  // `data` also contains datasets to which the user has been granted access, so a change of access changes this text.
  const accessByDataset = data?.map(({ name, granted }) => `${name} ${granted}`).join('\n');
  useOnChange(accessByDataset, onAccessChanged);
  const requestableDatasets = data?.filter((dataset) => !dataset.granted) ?? [];
  if (requestableDatasets.length === 0) return null;

  return (
    <SidebarSection
      id={restrictedDatasetsId}
      title={texts.restrictedDatasets}
      count={requestableDatasets.length}
      isOpen={isOpen}
      onToggle={onToggle}
    >
      <ul className={classes.list}>
        {requestableDatasets.map(({ name, request }) => (
          <li key={name} className={classes.dataset}>
            <IconLock size={18} aria-hidden />
            <div className={classes.name}>
              <span>{name}</span>
              {request !== null && <span className={classes.state}>{stateOf(request)}</span>}
            </div>
            {/* No button while a request waits for an answer (null). `request?.answer` is undefined without a request. */}
            {request?.answer !== null && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={texts.requestAccessTo(name)}
                onClick={() => setRequestedDataset(name)}
              >
                {texts.requestAccess}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {requestedDataset !== null && (
        <RequestDatasetDialog dataset={requestedDataset} onClose={() => setRequestedDataset(null)} />
      )}
    </SidebarSection>
  );
}

/** Describes the user's last request for access to a dataset. */
function stateOf({ answer, answer_reason }: NonNullable<RequestableDataset['request']>): string {
  if (answer === null) return texts.requested;
  if (answer === 'granted') return texts.accessEnded; // access was granted and later revoked
  return answer_reason === null ? texts.rejected : texts.rejectedBecause(answer_reason);
}

/** Calls `onChange` when the value changes, but not for the first value. Ignores undefined: a value that is not loaded yet. */
function useOnChange(value: string | undefined, onChange: () => void): void {
  const lastValue = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (value === undefined) return;
    if (lastValue.current !== undefined && lastValue.current !== value) onChange();
    lastValue.current = value;
  }, [value, onChange]);
}
