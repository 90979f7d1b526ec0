import { type DatasetRequest, reasonMaxLength } from '@lamina/contract';
import { Button, Group, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { answerAccessRequest } from '../../api/datasets.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { nameOf } from '../../formatting/person.ts';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

interface DatasetRequestItemProps {
  readonly request: DatasetRequest;
  /** Disables the buttons. The parent sets it for 700 ms after rows have moved, because a click could hit the wrong row. */
  readonly isDisabled: boolean;
}

/** The request of a user for access to a restricted dataset, with buttons that grant or reject it. A rejection may have a reason. */
export function DatasetRequestItem({ request, isDisabled }: DatasetRequestItemProps) {
  /** Whether the reject button was pressed once. The first press shows the field for the reason, the second sends the rejection. */
  const [isRejecting, setRejecting] = useState(false);
  const [reason, setReason] = useState('');
  const reasonField = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isRejecting) reasonField.current?.focus();
  }, [isRejecting]);
  const answer = useMutation({
    mutationFn: (decision: 'grant' | 'reject') => {
      const isGranted = decision === 'grant';
      return answerAccessRequest(request.id, isGranted, isGranted ? '' : reason.trim());
    },
    onSuccess: (result) => announceAction(result, { about: nameOf(request) }),
  });

  return (
    <li className={classes.request}>
      <div>
        <Text fw={600}>{nameOf(request)}</Text>
        <Text size="sm">
          {nameOf(request) === request.email ? '' : `${request.email} · `}
          {formatDateAndTime(request.at)}
        </Text>
      </div>
      <p className={classes.reason}>{request.reason}</p>
      {isRejecting && (
        <Textarea
          label={texts.rejectionReason}
          rows={2}
          resize="vertical"
          maxLength={reasonMaxLength}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          ref={reasonField}
        />
      )}
      <Group gap="xs">
        {!isRejecting && (
          <Button
            size="sm"
            loading={answer.isPending}
            disabled={isDisabled}
            onClick={() => answer.mutate('grant')}
          >
            {texts.accept}
          </Button>
        )}
        <Button
          size="sm"
          variant={isRejecting ? 'filled' : 'default'}
          {...(isRejecting && { color: 'eosin' })}
          disabled={answer.isPending || isDisabled}
          onClick={() => (isRejecting ? answer.mutate('reject') : setRejecting(true))}
        >
          {texts.reject}
        </Button>
        {isRejecting && (
          <Button size="sm" variant="default" disabled={answer.isPending} onClick={() => setRejecting(false)}>
            {texts.cancel}
          </Button>
        )}
      </Group>
    </li>
  );
}
