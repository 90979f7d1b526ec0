import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconLink } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { toast } from 'react-toastify';
import { startChainCheck, useAuditChain } from '../../api/audit.ts';
import { messageOf } from '../../api/client.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { formatNumber } from '../../formatting/numbers.ts';
import classes from './AuditLog.module.css';
import { chainTexts as texts } from './texts.ts';

/**
 * Part of the audit log screen that shows whether the chain of hashes is intact, with a button for a new check. Each audit entry contains
 * the hash of the entry before it, so a changed entry breaks the chain.
 */
export function ChainState() {
  const chain = useAuditChain();
  const startCheck = useMutation({
    mutationFn: startChainCheck,
    onError: (error) => toast.error(messageOf(error, texts.failed)),
  });

  if (chain.isLoadingError) {
    return <LoadFailed message={texts.failed} onRetry={() => void chain.refetch()} />;
  }
  if (chain.data === undefined) return null; // the list of entries below shows the loading state

  // `entries` (the count of checked entries) is null only before the first result. `brokenAt` (the sequence number of the first wrong
  // entry) is null unless the chain is broken.
  const { state, isChecking, entries, brokenAt, checkedAt } = chain.data;
  const checkButton = (
    <Button
      size="sm"
      variant="default"
      loading={isChecking || startCheck.isPending}
      onClick={() => startCheck.mutate()}
    >
      {texts.check}
    </Button>
  );
  if (state === 'broken') {
    return (
      <Alert
        color="eosin" // the theme's rose, named after the stain
        variant="outline"
        icon={<IconAlertTriangle aria-hidden />}
        title={texts.broken(formatNumber(brokenAt ?? 0))}
      >
        <Text mb="sm">{texts.brokenDetail(formatDateAndTime(checkedAt))}</Text>
        {checkButton}
      </Alert>
    );
  }
  const headingBeforeFirstResult = isChecking ? texts.checking : texts.unchecked;
  return (
    <section className={classes.chain} aria-label={texts.heading}>
      <IconLink size={22} aria-hidden className={classes.chainIcon} />
      <div role="status" className={classes.chainText}>
        <Text fw={600}>{state === 'intact' ? texts.intact : headingBeforeFirstResult}</Text>
        {state === 'intact' && (
          <Text size="sm" c="dimmed">
            {texts.intactDetail(formatNumber(entries ?? 0), formatDateAndTime(checkedAt))}
          </Text>
        )}
      </div>
      <Group>{checkButton}</Group>
    </section>
  );
}
